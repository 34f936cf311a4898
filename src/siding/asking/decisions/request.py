"""A request to a person: items, each with options to choose from or a free text to write.

Only values, no I/O. In JSON an item without `kind` is a single choice, and `min` and `max` are only
there for a multiple choice. What an agent wrote is checked: an error names the field that is wrong,
what is wrong with it, and how to mend it.
"""

from enum import StrEnum
from typing import Any

from siding.asking.decisions.input_object import InputObject, InvalidRequest, shown
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple

MAX_ITEMS = 200
MAX_OPTIONS = 200
LONGEST_LINE = 2_000  # characters of a title, a label, a value, a pro
LONGEST_TEXT = 100_000  # characters of a context
_REQUEST = ("task", "source", "items", "_meta", "version")
_ITEM = ("id", "title", "kind", "location", "context", "options", "recommend", "min", "max")
_OPTION = ("value", "label", "score", "pros", "cons")
_LOCATION = ("file", "start", "end")
__all__ = ["CheckedRequest", "InvalidRequest", "check_request"]


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
        "items": [_item_document(each) for each in request.items],
    }


def _item_document(item: Item) -> dict[str, Any]:
    document: dict[str, Any] = {"id": item.id, "title": item.title}
    if item.kind is not ItemKind.SINGLE:
        document["kind"] = item.kind.value
    if item.location is not None:
        document["location"] = item.location._asdict()
    if item.context:
        document["context"] = item.context
    if item.kind is not ItemKind.TEXT:
        document["options"] = [_option_document(each) for each in item.options]
    if item.kind is ItemKind.MULTIPLE:
        document["min"] = item.least
        if item.most is not None:
            document["max"] = item.most
    if item.recommend:
        several = item.kind is ItemKind.MULTIPLE
        document["recommend"] = list(item.recommend) if several else item.recommend[0]
    return document


def _option_document(option: Option) -> dict[str, Any]:
    document: dict[str, Any] = {"value": option.value, "label": option.label}
    if option.score is not None:
        document["score"] = option.score
    if option.pros:
        document["pros"] = list(option.pros)
    if option.cons:
        document["cons"] = list(option.cons)
    return document


_KINDS = ", ".join(kind.value for kind in ItemKind)


class CheckedRequest(NamedTuple):
    """A valid request, and a sentence for each field that was left out of it."""

    request: DecisionRequest
    ignored: tuple[str, ...]


def check_request(value: object, *, stored: bool = False) -> CheckedRequest:
    """Return the request in a parsed JSON value. Raises InvalidRequest for the first mistake.

    With `stored` the value is from a file, which another program may have written. A location
    outside the project is then left out, so that the question can still be answered.
    """
    place = InputObject("", value)
    ignored = place.unknown(_REQUEST)
    task = place.text("task", what="what the work is, in a few words", longest=LONGEST_TEXT)
    source = place.text("source", what="the document the question is from", longest=LONGEST_LINE)
    items = place.objects("items", what='a list of questions, [{"id": 1, "title": …}]')
    _require_at_most(place, "items", len(items), MAX_ITEMS)
    found = []
    seen: dict[int, str] = {}
    for each in items:
        item = _item(each, ignored, stored=stored)
        if item.id in seen:
            raise each.wrong(
                "id",
                f"is {item.id}, as is {seen[item.id]}.id",
                hint="give each item a number of its own",
            )
        seen[item.id] = each.path
        found.append(item)
    request = DecisionRequest(task=task, source=source, items=tuple(found))
    return CheckedRequest(request=request, ignored=tuple(ignored[:20]))


def _item(place: InputObject, ignored: list[str], *, stored: bool) -> Item:
    ignored += place.unknown(_ITEM)
    number = place.whole("id", least=1, what="number the items 1, 2, 3 …")
    title = place.text("title", what="the question in one line", longest=LONGEST_LINE)
    kind = _kind(place)
    options = _options(place, kind, ignored)
    least, most = _bounds(place, kind, len(options))
    return Item(
        id=number,
        title=title,
        kind=kind,
        options=options,
        location=_stored_location(place, ignored) if stored else _location(place, ignored),
        context=place.text_or_empty("context", longest=LONGEST_TEXT),
        recommend=_recommend(place, kind, options, most),
        least=least,
        most=most,
    )


def _kind(place: InputObject) -> ItemKind:
    value = place.raw("kind")
    if value is None:
        return ItemKind.SINGLE
    try:
        return ItemKind(value)
    except ValueError:
        raise place.wrong(
            "kind",
            f"should be one of {_KINDS}, and is {shown(value)}",
            hint="leave it out for a choice of one",
        ) from None


def _options(place: InputObject, kind: ItemKind, ignored: list[str]) -> tuple[Option, ...]:
    if kind is ItemKind.TEXT:
        if place.raw("options"):
            raise place.wrong(
                "options",
                "are given for a free text",
                hint='leave out "options", or leave out "kind": "text"',
            )
        return ()
    what = 'a list of at least two, [{"value": "a", "label": "…"}, …]'
    places = place.objects("options", what=what)
    least = 2 if kind is ItemKind.SINGLE else 1
    if len(places) < least:
        raise place.wrong(
            "options",
            f"has {len(places)} of at least {least}",
            hint='add one, or write "kind": "text" for a free answer',
        )
    _require_at_most(place, "options", len(places), MAX_OPTIONS)
    found = []
    seen: dict[str, str] = {}
    for each in places:
        option = _option(each, ignored)
        if option.value in seen:
            raise each.wrong(
                "value",
                f"is {option.value!r}, as is {seen[option.value]}.value",
                hint="give each option of an item a value of its own",
            )
        seen[option.value] = each.path
        found.append(option)
    return tuple(found)


def _option(place: InputObject, ignored: list[str]) -> Option:
    ignored += place.unknown(_OPTION)
    value = place.text("value", what='what you get back, such as "jwt"', longest=LONGEST_LINE)
    label = place.text("label", what="what the person reads", longest=LONGEST_LINE)
    score = place.raw("score")
    if score is not None:
        if not isinstance(score, int | float) or isinstance(score, bool):
            raise place.wrong(
                "score",
                f"should be a number, and is {shown(score)}",
                hint="a number from 0 to 100, or leave it out",
            )
        if not 0 <= score <= 100:
            raise place.wrong("score", f"is {shown(score)}", hint="a number from 0 to 100")
    return Option(
        value=value,
        label=label,
        score=score,
        pros=place.texts("pros", longest=LONGEST_LINE),
        cons=place.texts("cons", longest=LONGEST_LINE),
    )


def _bounds(place: InputObject, kind: ItemKind, count: int) -> tuple[int, int | None]:
    """Return `min` and `max` of an item with `count` options; 1 and None for a single choice."""
    if kind is not ItemKind.MULTIPLE:
        for key in ("min", "max"):
            if place.has(key):
                raise place.wrong(
                    key,
                    f"is given for an item of kind {kind.value}",
                    hint='leave it out, or write "kind": "multiple"',
                )
        return 1, None
    what = f"a whole number up to the {counted(count, 'option')}"
    least = place.whole("min", least=0, what=what) if place.has("min") else 1
    most = place.whole("max", least=1, what=what) if place.has("max") else None
    for key, number in (("min", least), ("max", most)):
        if number is not None and number > count:
            raise place.wrong(
                key,
                f"is {number}, and the item has {counted(count, 'option')}",
                hint=what,
            )
    if most is not None and least > most:
        raise place.wrong("min", f"is {least}, and max is {most}", hint="min is at most max")
    return least, most


def _recommend(
    place: InputObject, kind: ItemKind, options: tuple[Option, ...], most: int | None
) -> tuple[str, ...]:
    if not place.has("recommend"):
        return ()
    if kind is ItemKind.MULTIPLE and isinstance(place.raw("recommend"), list):
        recommended = place.texts("recommend", longest=LONGEST_LINE)
    else:
        what = "the text you suggest" if kind is ItemKind.TEXT else "the value of an option"
        longest = LONGEST_TEXT if kind is ItemKind.TEXT else LONGEST_LINE
        recommended = (place.text("recommend", what=what, longest=longest),)
    if kind is ItemKind.TEXT:
        return recommended
    values = [option.value for option in options]
    for each in recommended:
        if each not in values:
            raise place.wrong(
                "recommend",
                f"is {shown(each)}, which is no option's value",
                hint=f"one of {', '.join(values)[:200]}",
            )
    if len(set(recommended)) != len(recommended) or (most is not None and len(recommended) > most):
        raise place.wrong(
            "recommend",
            "names more options than may be chosen, or one twice",
            hint="name each at most once, and no more than max",
        )
    return recommended


def _stored_location(place: InputObject, ignored: list[str]) -> Location | None:
    """Return the location, or None and a sentence in `ignored` if it is wrong."""
    try:
        return _location(place, ignored)
    except InvalidRequest as error:
        ignored.append(error.message)
        return None


def _location(place: InputObject, ignored: list[str]) -> Location | None:
    if not place.has("location"):
        return None
    where = InputObject(place.at("location"), place.raw("location"))
    ignored += where.unknown(_LOCATION)
    file = where.text("file", what="a path inside the project", longest=LONGEST_LINE)
    parts = file.split("/")
    # These lines are read and shown beside the question, so they must not be of any other file.
    if file.startswith("/") or ".." in parts or "\0" in file or ".git" in parts:
        raise where.wrong(
            "file",
            f"is {shown(file)}, which is not inside the project",
            hint="a path relative to the project, such as docs/plan.md",
        )
    start = where.whole("start", least=1, what="the number of the first line")
    end = where.whole("end", least=1, what="the number of the last line")
    if end < start:
        raise where.wrong(
            "end",
            f"is {end}, before start, which is {start}",
            hint="start is the first line and end the last",
        )
    return Location(file=file, start=start, end=end)


def _require_at_most(place: InputObject, key: str, count: int, most: int) -> None:
    if count > most:
        raise place.wrong(key, f"has {count} entries", hint=f"ask at most {most}")
