"""What may be asked: every mistake is named with its place; what is valid is kept as it is."""

import copy
from typing import Any

import pytest
from hypothesis import given

from siding.asking.decisions.input_object import InvalidRequest
from siding.asking.decisions.request import check_request, document_of

from .asking import requests, simple

# Where a value of the example is put, what is put there (None: taken away), the path complained of.
MISTAKES: list[tuple[str, Any, str]] = [
    ("task", None, "task"),
    ("task", "  ", "task"),
    ("task", 3, "task"),
    ("source", "", "source"),
    ("items", None, "items"),
    ("items", [], "items"),
    ("items", {}, "items"),
    ("items.0", "x", "items[0]"),
    ("items.0.id", None, "items[0].id"),
    ("items.0.id", True, "items[0].id"),
    ("items.0.id", 0, "items[0].id"),
    ("items.0.id", 1.5, "items[0].id"),
    ("items.1.id", 1, "items[1].id"),
    ("items.0.title", " ", "items[0].title"),
    ("items.0.kind", "many", "items[0].kind"),
    ("items.0.kind", [], "items[0].kind"),
    ("items.0.kind", "text", "items[0].options"),
    ("items.0.options", None, "items[0].options"),
    ("items.0.options", [], "items[0].options"),
    ("items.0.options", [{"value": "a", "label": "A"}], "items[0].options"),
    ("items.0.options.1.value", "", "items[0].options[1].value"),
    ("items.0.options.1.value", "jwt", "items[0].options[1].value"),
    ("items.0.options.1.label", None, "items[0].options[1].label"),
    ("items.0.options.0.score", 101, "items[0].options[0].score"),
    ("items.0.options.0.score", -1, "items[0].options[0].score"),
    ("items.0.options.0.score", True, "items[0].options[0].score"),
    ("items.0.options.0.score", "9", "items[0].options[0].score"),
    ("items.0.options.0.pros", "a", "items[0].options[0].pros"),
    ("items.0.options.0.cons", [1], "items[0].options[0].cons[0]"),
    ("items.0.recommend", "none", "items[0].recommend"),
    ("items.0.recommend", ["jwt"], "items[0].recommend"),
    ("items.0.min", 1, "items[0].min"),
    ("items.0.context", 4, "items[0].context"),
    ("items.0.location", "plan.md", "items[0].location"),
    ("items.0.location.file", " ", "items[0].location.file"),
    ("items.0.location.file", "/etc/passwd", "items[0].location.file"),
    ("items.0.location.file", "a/../../b", "items[0].location.file"),
    ("items.0.location.file", ".git/config", "items[0].location.file"),
    ("items.0.location.start", 0, "items[0].location.start"),
    ("items.0.location.start", "5", "items[0].location.start"),
    ("items.0.location.end", 4, "items[0].location.end"),
]


def changed(document: Any, where: str, value: Any) -> Any:
    """Return the document with one value put in or, as None, taken out."""
    document = copy.deepcopy(document)
    place = document
    *above, last = [int(part) if part.isdigit() else part for part in where.split(".")]
    for part in above:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return document


@pytest.mark.parametrize(("where", "value", "path"), MISTAKES, ids=lambda each: str(each)[:40])
def test_a_mistake_is_named_with_its_place_and_a_fix(where: str, value: Any, path: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        check_request(changed(simple(), where, value))
    assert caught.value.path == path
    assert caught.value.message.startswith(path)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"min": 4}, "items[0].min"),
        ({"max": 4}, "items[0].max"),
        ({"min": 2, "max": 1}, "items[0].min"),
        ({"max": 1, "recommend": ["a", "b"]}, "items[0].recommend"),
        ({"recommend": ["a", "a"]}, "items[0].recommend"),
    ],
)
def test_the_bounds_of_a_multiple_choice_fit_its_options(more: dict[str, Any], path: str) -> None:
    options = [{"value": each, "label": each} for each in "abc"]
    item = {"id": 1, "title": "t", "kind": "multiple", "options": options, **more}
    with pytest.raises(InvalidRequest) as caught:
        check_request(simple(items=[item]))
    assert caught.value.path == path


@pytest.mark.parametrize("value", [None, [], "text", 3, True])
def test_what_is_no_object_is_no_request(value: object) -> None:
    with pytest.raises(InvalidRequest, match="the document should be an object"):
        check_request(value)


def test_fields_that_mean_nothing_are_named_and_left_out() -> None:
    request = changed(simple(), "items.0.recomend", "jwt")
    checked = check_request(request)
    assert checked.ignored == (
        "items[0].recomend is not known and was left out; did you mean 'recommend'?",
    )
    assert document_of(checked.request) == simple()


def test_a_stored_request_of_another_program_keeps_all_but_a_place_outside() -> None:
    request = changed(simple(), "items.0.location.file", "/etc/passwd")
    stored = check_request(request, stored=True).request
    assert stored.items[0].location is None
    assert stored.items[1].location is None
    assert [each.title for each in stored.items] == ["How?", "Which?"]


@given(requests())
def test_what_is_valid_is_kept_as_it_is(request: dict[str, Any]) -> None:
    checked = check_request(request)
    assert checked.ignored == ()
    again = check_request(document_of(checked.request))
    assert again.request == checked.request
    assert document_of(again.request)["items"] == document_of(checked.request)["items"]
    for given_item, kept in zip(
        request["items"], document_of(checked.request)["items"], strict=True
    ):
        assert {key: kept[key] for key in given_item if key in kept} == {
            key: value for key, value in given_item.items() if key in kept
        }
        assert given_item.keys() - kept.keys() <= {"kind", "max"}
