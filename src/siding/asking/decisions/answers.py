"""The answers to a decision: check them against the request, write and read their JSON form.

In JSON `chosen` is always a text: the option's value, the free text, or the first value of a
multiple choice, so that a program that knows single choices only reads the value of an option. All
values of a multiple choice are in `values`. Earlier versions joined them in `chosen` as well.
"""

from collections.abc import Sequence
from typing import Any

from siding.asking.decisions.input_object import InputObject, InvalidAnswer, shown
from siding.asking.decisions.request import DecisionRequest, Item, ItemKind
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple

LONGEST_ANSWER = 100_000  # characters of a free text or a note


class Answer(NamedTuple):
    """The answer to the item with number `id`: the values chosen, or one free text.

    `note` is the person's comment, "" if there is none.
    """

    id: int
    values: tuple[str, ...]
    note: str = ""


def check_answers(request: DecisionRequest, value: object) -> tuple[Answer, ...]:
    """Return the answers in a parsed JSON value, in the order of the request's items.

    `value` is the list of answers, or an object that has it as `decisions`. Raises InvalidAnswer
    for the first mistake.
    """
    holder = value if isinstance(value, dict) else {"decisions": value}
    what = 'a list with an answer to each item, [{"id": 1, "chosen": "…"}]'
    places = InputObject("", holder, error=InvalidAnswer).objects("decisions", what=what)
    items = {item.id: item for item in request.items}
    found: dict[int, Answer] = {}
    for place in places:
        number = place.whole("id", least=1, what="the item's number")
        if number in found:
            raise place.wrong("id", f"is {number}, which is answered twice", hint="answer it once")
        if number not in items:
            raise place.wrong(
                "id",
                f"is {number}, and no item has that number",
                hint=f"the items are {_number_list(list(items))}",
            )
        found[number] = _answer(place, items[number])
    missing = [number for number in items if number not in found]
    if missing:
        raise InvalidAnswer(
            "decisions", f"lack an answer to {_number_list(missing)}", hint="every item needs one"
        )
    return tuple(found[number] for number in items)


def document_of(request: DecisionRequest, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the answers as JSON: ``{"decisions": [{"id", "chosen", "values"?, "note"?}]}``."""
    kinds = {item.id: item.kind for item in request.items}
    return {"decisions": [_decision(each, kinds.get(each.id)) for each in answers]}


def answers_from(document: object) -> tuple[Answer, ...]:
    """Return the answers in a document that `document_of` made. Raises ValueError otherwise."""
    decisions = document.get("decisions") if isinstance(document, dict) else None
    if not isinstance(decisions, list):
        raise ValueError("`output.decisions` is not a list")  # noqa: TRY004 - about the file
    return tuple(_answer_from(each) for each in decisions)


def _answer(place: InputObject, item: Item) -> Answer:
    note = place.text_or_empty("note", longest=LONGEST_ANSWER).strip()
    if item.kind is ItemKind.MULTIPLE:
        return Answer(id=item.id, values=_several(place, item), note=note)
    what = "your answer" if item.kind is ItemKind.TEXT else "the value of an option"
    value = place.text("chosen", what=what, longest=LONGEST_ANSWER)
    if item.kind is ItemKind.SINGLE:
        _require_option(place, "chosen", value, item)
    return Answer(id=item.id, values=(value,), note=note)


def _several(place: InputObject, item: Item) -> tuple[str, ...]:
    """Return the chosen values of a multiple choice, in the order of its options."""
    key = "values" if place.has("values") else "chosen"
    if place.raw(key) is None and item.least > 0:
        raise place.wrong(key, "is missing", hint='write "chosen": ["a", "b"]')
    if isinstance(place.raw(key), str):
        values: tuple[str, ...] = (place.text(key, what="a value", longest=LONGEST_ANSWER),)
    else:
        values = place.texts(key, longest=LONGEST_ANSWER)
    for value in values:
        _require_option(place, key, value, item)
    if len(set(values)) != len(values):
        raise place.wrong(key, "names an option twice", hint="name each at most once")
    most = len(item.options) if item.most is None else item.most
    if not item.least <= len(values) <= most:
        raise place.wrong(
            key,
            f"names {counted(len(values), 'option')}",
            hint=f"choose {_range(item.least, most)}",
        )
    order = [option.value for option in item.options]
    return tuple(sorted(values, key=order.index))


def _require_option(place: InputObject, key: str, value: str, item: Item) -> None:
    values = [option.value for option in item.options]
    if value not in values:
        raise place.wrong(
            key,
            f"is {shown(value)}, which is no option of item {item.id}",
            hint=f"one of {', '.join(values)[:200]}",
        )


def _range(least: int, most: int) -> str:
    return f"{least}" if least == most else f"{least} to {most}"


def _number_list(numbers: list[int]) -> str:
    return ", ".join(str(number) for number in numbers[:20]) + (" …" if len(numbers) > 20 else "")


def _decision(answer: Answer, kind: ItemKind | None) -> dict[str, Any]:
    document: dict[str, Any] = {"id": answer.id, "chosen": next(iter(answer.values), "")}
    if kind is ItemKind.MULTIPLE:
        document["values"] = list(answer.values)
    if answer.note:
        document["note"] = answer.note
    return document


def _answer_from(value: object) -> Answer:
    match value:
        case {"id": int(number), "chosen": str(chosen), **rest}:
            values = rest.get("values")
            several = isinstance(values, list) and all(isinstance(each, str) for each in values)
            return Answer(
                id=number,
                values=tuple(values) if several and isinstance(values, list) else (chosen,),
                note=str(rest.get("note") or ""),
            )
        case _:
            raise ValueError("an entry of `output.decisions` lacks `id` or `chosen`")
