"""How much may be asked, and what is said of more."""

from typing import Any

import pytest

from siding.asking.decisions.input_object import InvalidRequest
from siding.asking.decisions.request import (
    DecisionRequest,
    Item,
    ItemKind,
    Location,
    Option,
    check_request,
    document_of,
)

from .asking import simple
from .test_request import changed

LINE, TEXT = "x" * 2_000, "x" * 100_000


def many(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": number, "title": "t", "kind": "text", **more} for number in range(1, count + 1)]


def options(count: int) -> list[dict[str, Any]]:
    return [{"value": f"v{number}", "label": "l"} for number in range(count)]


def item(**more: Any) -> dict[str, Any]:
    return simple(items=[{"id": 1, "title": "t", **more}])


def test_as_much_as_may_be_asked() -> None:
    assert len(check_request(simple(items=many(200))).request.items) == 200
    (only,) = check_request(item(options=options(200))).request.items
    assert len(only.options) == 200
    longest = item(
        title=LINE,
        context=TEXT,
        location={"file": LINE, "start": 1, "end": 1},
        options=[
            {"value": LINE, "label": LINE, "pros": [LINE], "cons": [LINE], "score": 100},
            {"value": "b", "label": "l", "score": 0},
        ],
        recommend=LINE,
    )
    (only,) = check_request({**longest, "task": TEXT, "source": LINE}).request.items
    assert only.location == Location(LINE, 1, 1)
    assert [each.score for each in only.options] == [100, 0]
    (free,) = check_request(item(kind="text", recommend=TEXT)).request.items
    assert free.recommend == (TEXT,)


TOO_LONG: list[tuple[str, str, int]] = [
    ("task", TEXT, 100_000),
    ("source", LINE, 2_000),
    ("items.0.title", LINE, 2_000),
    ("items.0.context", TEXT, 100_000),
    ("items.0.location.file", LINE, 2_000),
    ("items.0.options.0.value", LINE, 2_000),
    ("items.0.options.0.label", LINE, 2_000),
    ("items.0.recommend", LINE, 2_000),
]


@pytest.mark.parametrize(("where", "text", "most"), TOO_LONG, ids=lambda each: str(each)[:30])
def test_a_text_that_is_too_long_is_refused(where: str, text: str, most: int) -> None:
    with pytest.raises(InvalidRequest, match=f"has {most + 1} characters") as caught:
        check_request(changed(simple(), where, text + "x"))
    assert caught.value.hint == f"{most} is the most"


@pytest.mark.parametrize("key", ["pros", "cons"])
def test_a_pro_or_con_that_is_too_long_is_refused(key: str) -> None:
    with pytest.raises(InvalidRequest, match="has 2001 characters"):
        check_request(changed(simple(), f"items.0.options.0.{key}", [LINE + "x"]))


@pytest.mark.parametrize(
    ("request_", "message", "hint"),
    [
        (simple(items=many(201)), "items has 201 entries", "ask at most 200"),
        (item(options=options(201)), r"items\[0\].options has 201 entries", "ask at most 200"),
        (item(options=options(1)), "has 1 of at least 2", '"kind": "text"'),
        (item(kind="multiple", options=[]), "options is empty", "at least two"),
        (item(kind="text", options=options(2)), "are given for a free text", "leave out"),
        (
            item(kind="multiple", options=options(2), min=3),
            "min is 3, and the item has 2 options",
            "up to the 2",
        ),
        (
            item(kind="multiple", options=options(2), max=3),
            "max is 3, and the item has 2 options",
            "up to the 2",
        ),
        (
            item(kind="multiple", options=options(2), max=0),
            "max should be 1 or more",
            "up to the 2",
        ),
        (item(kind="multiple", options=options(2), min=-1), "min should be 0 or more", "up to"),
        (
            item(kind="multiple", options=options(3), min=2, max=1),
            "min is 2, and max is 1",
            "at most",
        ),
        (
            changed(simple(), "items.0.location.end", 0),
            "end should be 1 or more",
            "the number of the last line",
        ),
        (item(kind="text", max=1), "max is given for an item of kind text", "multiple"),
        (item(options=options(2), recommend="w"), "is 'w', which is no option", "one of v0, v1"),
        (item(options=options(2), recommend=["v0"]), "should be a text", "the value of an option"),
        (item(kind="text", recommend=3), "should be a text, and is 3", "the text you suggest"),
        (
            item(kind="multiple", options=options(3), max=1, recommend=["v0", "v1"]),
            "more options than may be chosen",
            "no more than max",
        ),
    ],
    ids=lambda each: str(each)[:30],
)
def test_what_does_not_fit_is_told(request_: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(InvalidRequest, match=message) as caught:
        check_request(request_)
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("more", "least", "most", "recommend"),
    [
        ({}, 1, None, ()),
        ({"min": 0}, 0, None, ()),
        ({"min": 3, "max": 3}, 3, 3, ()),
        ({"max": 1, "recommend": ["v0"]}, 1, 1, ("v0",)),
        ({"max": 2, "recommend": ["v2", "v0"]}, 1, 2, ("v2", "v0")),
        ({"recommend": "v1"}, 1, None, ("v1",)),
        ({"recommend": []}, 1, None, ()),
    ],
)
def test_the_bounds_of_a_multiple_choice_are_kept(
    more: dict[str, Any], least: int, most: int | None, recommend: tuple[str, ...]
) -> None:
    document = item(kind="multiple", options=options(3), **more)
    (only,) = check_request(document).request.items
    assert (only.least, only.most, only.recommend) == (least, most, recommend)
    (again,) = check_request(document_of(check_request(document).request)).request.items
    assert again == only


def test_one_option_is_enough_for_a_multiple_choice() -> None:
    (only,) = check_request(item(kind="multiple", options=options(1))).request.items
    assert (only.kind, len(only.options)) == (ItemKind.MULTIPLE, 1)


def test_of_what_means_nothing_twenty_are_named() -> None:
    odd = {f"odd{number}": 1 for number in range(30)}
    assert len(check_request({**simple(), **odd}).ignored) == 20
    some = changed(simple(), "items.0.location.x", 1)
    some["items"][0]["options"][0]["y"] = 1
    some["z"] = 1
    named = [each.split(" ")[0] for each in check_request(some).ignored]
    assert sorted(named) == ["items[0].location.x", "items[0].options[0].y", "z"]


@pytest.mark.parametrize("file", ["/etc/passwd", "..", "a/..", ".git", "a/.git/x", "a\0b"])
def test_a_place_outside_the_project_is_left_out_of_what_was_stored(file: str) -> None:
    document = changed(simple(), "items.0.location.file", file)
    checked = check_request(document, stored=True)
    assert checked.request.items[0].location is None
    assert "not inside the project" in checked.ignored[0]
    with pytest.raises(InvalidRequest, match="not inside the project"):
        check_request(document)


def test_a_place_may_be_one_line_and_is_kept_of_what_was_stored() -> None:
    document = changed(simple(), "items.0.location", {"file": "a/..b/c", "start": 3, "end": 3})
    for stored in (False, True):
        checked = check_request(document, stored=stored)
        assert checked.request.items[0].location == Location("a/..b/c", 3, 3)
        assert checked.ignored == ()


def test_an_item_is_a_choice_of_one_where_nothing_else_is_said() -> None:
    one = Item(1, "t", options=(Option("a", "A"), Option("b", "B")), recommend=("b",))
    assert (one.kind, one.least, one.most) == (ItemKind.SINGLE, 1, None)
    document = document_of(DecisionRequest("task", "source", (one,)))
    assert document["items"][0]["recommend"] == "b"
    assert check_request(document).request.items == (one,)
