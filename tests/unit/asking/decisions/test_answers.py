"""What a person may answer, and that it comes back as it was given."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.asking.decisions.answers import Answer, answers_from, check_answers, document_of
from siding.asking.decisions.input_object import InvalidAnswer
from siding.asking.decisions.request import Item, ItemKind, check_request

from .asking import LINE, requests, simple

BOTH = [{"id": 1, "chosen": "jwt"}, {"id": 2, "chosen": "bcrypt", "note": " the team knows it "}]


def test_the_seeds_own_answer() -> None:
    request = check_request(simple()).request
    answers = check_answers(request, {"decisions": BOTH})
    assert answers == (Answer(1, ("jwt",)), Answer(2, ("bcrypt",), "the team knows it"))
    assert document_of(request, answers) == {
        "decisions": [
            {"id": 1, "chosen": "jwt"},
            {"id": 2, "chosen": "bcrypt", "note": "the team knows it"},
        ]
    }


@pytest.mark.parametrize(
    ("answers", "path"),
    [
        ([], "decisions"),
        ({}, "decisions"),
        ("jwt", "decisions"),
        ([3], "decisions[0]"),
        ([BOTH[0]], "decisions"),
        ([BOTH[0], BOTH[0], BOTH[1]], "decisions[1].id"),
        ([*BOTH, {"id": 3, "chosen": "x"}], "decisions[2].id"),
        ([{"id": 0, "chosen": "jwt"}], "decisions[0].id"),
        ([{"id": 1}], "decisions[0].chosen"),
        ([{"id": 1, "chosen": "none"}], "decisions[0].chosen"),
        ([{"id": 1, "chosen": ["jwt"]}], "decisions[0].chosen"),
        ([{"id": 1, "chosen": "jwt", "note": 3}], "decisions[0].note"),
    ],
)
def test_what_does_not_fit_is_named(answers: Any, path: str) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        check_answers(check_request(simple()).request, answers)
    assert caught.value.path == path


@pytest.mark.parametrize("chosen", [[], ["a", "a"], ["a", "b", "c"], ["d"], None])
def test_a_multiple_choice_keeps_its_bounds(chosen: Any) -> None:
    options = [{"value": each, "label": each} for each in "abc"]
    item = {"id": 1, "title": "t", "kind": "multiple", "max": 2, "options": options}
    request = check_request(simple(items=[item])).request
    with pytest.raises(InvalidAnswer):
        check_answers(request, [{"id": 1, "chosen": chosen}])


def test_a_multiple_choice_reads_as_text_and_as_values() -> None:
    options = [{"value": each, "label": each} for each in "abc"]
    item = {"id": 1, "title": "t", "kind": "multiple", "options": options}
    request = check_request(simple(items=[item])).request
    answers = check_answers(request, [{"id": 1, "chosen": ["c", "a"]}])
    assert document_of(request, answers) == {
        "decisions": [{"id": 1, "chosen": "a", "values": ["a", "c"]}]
    }


@pytest.mark.parametrize("chosen", [[], ["b"], ["c", "a"], ["a, b", "c"], ["c", "b", "a", "a, b"]])
def test_chosen_is_one_option_for_a_reader_of_single_choices(chosen: list[str]) -> None:
    options = [{"value": each, "label": each} for each in ("a, b", "a", "b", "c")]
    item = {"id": 1, "title": "t", "kind": "multiple", "min": 0, "options": options}
    request = check_request(simple(items=[item])).request
    answers = check_answers(request, [{"id": 1, "chosen": chosen}])
    written = document_of(request, answers)
    (told,) = written["decisions"]
    assert told["chosen"] == (told["values"][0] if chosen else "")
    assert sorted(told["values"]) == sorted(chosen)
    assert answers_from(written) == answers


def test_what_earlier_versions_wrote_of_several_reads_as_before() -> None:
    old = {"decisions": [{"id": 1, "chosen": "a, c", "values": ["a", "c"]}]}
    assert [each.values for each in answers_from(old)] == [("a", "c")]


CHOICE = {"id": 7, "title": "t", "kind": "multiple"}
THREE = [{"value": each, "label": each} for each in "abc"]


@pytest.mark.parametrize(
    ("more", "answer", "path", "message", "hint"),
    [
        ({}, {"chosen": None}, "decisions[0].chosen", "is missing", '"chosen": ["a", "b"]'),
        (
            {},
            {"chosen": ["a", "a"]},
            "decisions[0].chosen",
            "names an option twice",
            "at most once",
        ),
        (
            {},
            {"values": ["d"]},
            "decisions[0].values",
            "is 'd', which is no option of item 7",
            "a, b",
        ),
        ({}, {"chosen": "d"}, "decisions[0].chosen", "is 'd', which", "one of a, b, c"),
        ({}, {"chosen": " "}, "decisions[0].chosen", "is blank", "a value"),
        ({}, {"chosen": []}, "decisions[0].chosen", "names 0 options", "choose 1 to 3"),
        ({"min": 2, "max": 2}, {"chosen": ["a"]}, "decisions[0].chosen", "names 1 opt", "choose 2"),
        (
            {"max": 2},
            {"chosen": [*"abc"]},
            "decisions[0].chosen",
            "names 3 options",
            "choose 1 to 2",
        ),
    ],
)
def test_a_multiple_choice_that_does_not_fit_is_told(
    more: dict[str, Any], answer: dict[str, Any], path: str, message: str, hint: str
) -> None:
    request = check_request(simple(items=[{**CHOICE, "options": THREE, **more}])).request
    with pytest.raises(InvalidAnswer, match=message) as caught:
        check_answers(request, [{"id": 7, **answer}])
    assert caught.value.path == path
    assert hint in str(caught.value.hint)
    assert ("to" in str(caught.value.hint)) == ("1 to" in hint or hint.startswith("1"))


@pytest.mark.parametrize(
    ("more", "answer", "values"),
    [
        ({}, {"chosen": "b"}, ("b",)),
        ({}, {"chosen": "b", "values": ["c", "a"]}, ("a", "c")),
        ({}, {"chosen": [*"cba"]}, ("a", "b", "c")),
        ({"min": 0}, {"chosen": []}, ()),
        ({"min": 0}, {}, ()),
        ({"min": 2, "max": 2}, {"chosen": ["a", "b"]}, ("a", "b")),
    ],
)
def test_a_multiple_choice_is_read_in_the_order_of_its_options(
    more: dict[str, Any], answer: dict[str, Any], values: tuple[str, ...]
) -> None:
    request = check_request(simple(items=[{**CHOICE, "options": THREE, **more}])).request
    assert check_answers(request, [{"id": 7, **answer}]) == (Answer(7, values),)


def test_what_is_missing_or_too_much_is_listed() -> None:
    items = [{"id": number, "title": "t", "kind": "text"} for number in range(1, 22)]
    request = check_request(simple(items=items)).request
    with pytest.raises(InvalidAnswer) as caught:
        check_answers(request, [{"id": 21, "chosen": "x"}])
    assert caught.value.message.endswith(", 18, 19, 20")
    with pytest.raises(InvalidAnswer) as caught:
        check_answers(request, [{"id": 22, "chosen": "x"}])
    assert str(caught.value.hint).endswith(", 19, 20 \u2026")
    with pytest.raises(InvalidAnswer, match="is missing") as caught:
        check_answers(request, [{"id": 1}])
    assert "your answer" in str(caught.value.hint)


def test_numbers_of_items_begin_at_one() -> None:
    request = check_request(simple()).request
    with pytest.raises(InvalidAnswer, match="should be 1 or more"):
        check_answers(request, [{"id": 0, "chosen": "jwt"}])


def test_an_answer_has_an_end() -> None:
    item = {"id": 1, "title": "t", "kind": "text"}
    request = check_request(simple(items=[item])).request
    most = "x" * 100_000
    (found,) = check_answers(request, [{"id": 1, "chosen": most, "note": most}])
    assert found == Answer(1, (most,), most)
    for more in ({"chosen": most + "x"}, {"chosen": "x", "note": most + "x"}):
        with pytest.raises(InvalidAnswer, match="has 100001 characters"):
            check_answers(request, [{"id": 1, **more}])


@pytest.mark.parametrize(
    ("entry", "answer"),
    [
        ({"id": 1, "chosen": "a"}, Answer(1, ("a",))),
        ({"id": 1, "chosen": "a, b", "values": ["a", "b"]}, Answer(1, ("a", "b"))),
        ({"id": 1, "chosen": "a, b", "values": ["a", 3]}, Answer(1, ("a, b",))),
        ({"id": 1, "chosen": "a", "values": "xy"}, Answer(1, ("a",))),
        ({"id": 1, "chosen": "a", "note": None}, Answer(1, ("a",))),
        ({"id": 1, "chosen": "a", "note": "n"}, Answer(1, ("a",), "n")),
    ],
)
def test_a_stored_answer_is_read(entry: dict[str, Any], answer: Answer) -> None:
    assert answers_from({"decisions": [entry]}) == (answer,)


@pytest.mark.parametrize(
    "document", [None, [], {}, {"decisions": {}}, {"decisions": [3]}, {"decisions": [{"id": 1}]}]
)
def test_what_is_no_stored_answer_is_refused(document: object) -> None:
    with pytest.raises(ValueError, match="output"):
        answers_from(document)


@given(st.data())
def test_every_answer_that_fits_comes_back(data: st.DataObject) -> None:
    request = check_request(data.draw(requests())).request
    given_answers = [_given(data, item) for item in request.items]
    answers = check_answers(request, given_answers)
    assert answers_from(document_of(request, answers)) == answers
    for item, answer, told in zip(request.items, answers, given_answers, strict=True):
        chosen = told["chosen"]
        assert set(answer.values) == (set(chosen) if isinstance(chosen, list) else {chosen})
        assert answer.id == item.id


def _given(data: st.DataObject, item: Item) -> dict[str, Any]:
    values = [option.value for option in item.options]
    if item.kind is ItemKind.TEXT:
        return {"id": item.id, "chosen": data.draw(LINE), "note": data.draw(st.text(max_size=5))}
    if item.kind is ItemKind.SINGLE:
        return {"id": item.id, "chosen": data.draw(st.sampled_from(values))}
    few = st.lists(st.sampled_from(values), min_size=item.least, unique=True)
    return {"id": item.id, "chosen": data.draw(few)}
