"""A request to a person: items, each with options to choose from or a free text to write.

Only values, no I/O. In JSON an item without `kind` is a single choice, and `min` and `max` are only
there for a multiple choice.
"""

from enum import StrEnum
from typing import Any

from siding.ground.namedtuples import NamedTuple


class ItemKind(StrEnum):
    """How an item is answered."""

    SINGLE = "single"
    MULTIPLE = "multiple"
    TEXT = "text"


class Location(NamedTuple):
    """Lines `start` to `end` of a file in the project, both included; the first line is 1."""

    file: str
    start: int
    end: int


class Option(NamedTuple):
    """One thing that can be chosen. `score` is 0 to 100, None if the agent gave none."""

    value: str
    label: str
    score: float | None = None
    pros: tuple[str, ...] = ()
    cons: tuple[str, ...] = ()


class Item(NamedTuple):
    """One question. `recommend` holds the values of options, or the text that is suggested."""

    id: int
    title: str
    kind: ItemKind = ItemKind.SINGLE
    options: tuple[Option, ...] = ()
    location: Location | None = None
    context: str = ""
    recommend: tuple[str, ...] = ()
    least: int = 1  # how many options of a multiple choice must be chosen
    most: int | None = None  # how many may be chosen; None: all of them


class DecisionRequest(NamedTuple):
    """The items that are asked at once. `source` names the document the question comes from."""

    task: str
    source: str
    items: tuple[Item, ...]


def document_of(request: DecisionRequest) -> dict[str, Any]:
    """Return the request as a JSON document; fields that were not given are left out."""
    return {
        "task": request.task,
        "source": request.source,
        "items": [_item(each) for each in request.items],
    }


def _item(item: Item) -> dict[str, Any]:
    document: dict[str, Any] = {"id": item.id, "title": item.title}
    if item.kind is not ItemKind.SINGLE:
        document["kind"] = item.kind.value
    if item.location is not None:
        document["location"] = item.location._asdict()
    if item.context:
        document["context"] = item.context
    if item.kind is not ItemKind.TEXT:
        document["options"] = [_option(each) for each in item.options]
    if item.kind is ItemKind.MULTIPLE:
        document["min"] = item.least
        if item.most is not None:
            document["max"] = item.most
    if item.recommend:
        several = item.kind is ItemKind.MULTIPLE
        document["recommend"] = list(item.recommend) if several else item.recommend[0]
    return document


def _option(option: Option) -> dict[str, Any]:
    document: dict[str, Any] = {"value": option.value, "label": option.label}
    if option.score is not None:
        document["score"] = option.score
    if option.pros:
        document["pros"] = list(option.pros)
    if option.cons:
        document["cons"] = list(option.cons)
    return document
