"""What a person may answer, and that it comes back as it was given."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.decisions.answers import Answer, answers_from, check_answers, document_of
from siding.decisions.checking import check_request
from siding.decisions.input_object import InvalidAnswer
from siding.decisions.request import Item, ItemKind

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
        "decisions": [{"id": 1, "chosen": "a, c", "values": ["a", "c"]}]
    }


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
