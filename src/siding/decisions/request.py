"""What is asked: items, each with options to choose from or a free text to write. Values only.

The shape is the seed's `DecideInput`. Added: `kind` (without it an item is a single choice), and
`min` and `max` for a multiple choice.
"""

from enum import StrEnum
from typing import Any, NamedTuple


class ItemKind(StrEnum):
    """How an item is answered."""

    SINGLE = "single"
    MULTIPLE = "multiple"
    TEXT = "text"


class Location(NamedTuple):
    """Lines of a file of the project: both ends count, the first line is 1."""

    file: str
    start: int
    end: int


class Option(NamedTuple):
    """One thing that can be chosen. ``score`` is 0 to 100."""

    value: str
    label: str
    score: float | None = None
    pros: tuple[str, ...] = ()
    cons: tuple[str, ...] = ()


class Item(NamedTuple):
    """One question. ``recommend`` holds option values, or the text that is suggested."""

    id: int
    title: str
    kind: ItemKind = ItemKind.SINGLE
    options: tuple[Option, ...] = ()
    location: Location | None = None
    context: str = ""
    recommend: tuple[str, ...] = ()
    least: int = 1  # of a multiple choice: how few may be chosen
    most: int | None = None  # and how many; None: all of them


class Request(NamedTuple):
    """Everything that is asked at once. ``source`` names the document the question comes from."""

    task: str
    source: str
    items: tuple[Item, ...]


def document_of(request: Request) -> dict[str, Any]:
    """Return the request as the seed's `DecideInput`; what was not given is left out."""
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
