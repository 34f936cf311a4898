"""The tables of events for the docs, made of the tuples and the comments beside their fields.

.venv/bin/python -m unit.chat.event_tables       (in `tests`)
"""

import inspect
import io
import re
import tokenize
import typing
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any

from siding.agents.talking import port
from siding.chat import events

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "chat-events.md"
_TABLE = re.compile(r"^\| (?:event|object) \|.*(?:\n\|.*)*", re.MULTILINE)
_WORDS: Mapping[Any, str] = {str: "text", int: "number", bool: "true/false", float: "number"}


def own_kinds() -> list[type[Any]]:
    """Return what the host and people add to a story, in the order of the source."""
    return [
        each
        for each in vars(events).values()
        if hasattr(each, "_fields") and each.__module__ == events.__name__
    ]


def kinds_of_agents() -> list[type[Any]]:
    """Return what agents say. What a talker does not understand is in no story."""
    return [each for each in typing.get_args(port.Event) if each is not port.Unread]


def parts() -> list[type[Any]]:
    """Return what fields of events consist of."""
    return [port.OwnCommand, port.Edit, port.Choice, port.PlanStep]


def table(kinds: list[type[Any]], *, are_events: bool = True) -> str:
    """Return a table of kinds: what each says, and its fields."""
    head = "event" if are_events else "object"
    lines = [f"| {head} | what it says | fields |", "|---|---|---|"]
    lines += [f"| {' | '.join(_cells(each, are_events=are_events))} |" for each in kinds]
    return "\n".join(lines)


def _cells(kind: type[Any], *, are_events: bool) -> Iterator[str]:
    yield f"`{events.name_of(kind)}`" if are_events else f"*{_in_words(kind)}*"
    yield _plain(inspect.cleandoc(kind.__doc__ or ""))
    types = typing.get_type_hints(kind)
    notes = _notes(kind)
    fields = (_field(name, types[name], notes.get(name, "")) for name in kind._fields)
    yield " · ".join(fields)


def _field(name: str, its: Any, note: str) -> str:
    return f"`{name}` {_type(its)}" + (f" ({_plain(note)})" if note else "")


def _type(its: Any) -> str:
    if isinstance(its, type) and issubclass(its, StrEnum):
        return ", ".join(f"`{each.value}`" if each.value else "or none" for each in its)
    if its in _WORDS:
        return _WORDS[its]
    found = typing.get_args(its)
    if isinstance(its, UnionType):
        return next(_type(each) for each in found if each is not NoneType)
    origin = typing.get_origin(its)
    if origin is tuple and found[-1] is Ellipsis:
        return f"list of {_type(found[0])}"
    if origin is tuple:
        return f"pair of {_type(found[0])}"
    if hasattr(its, "_fields"):
        return _in_words(its)
    return "object"


def _in_words(kind: type[Any]) -> str:
    return events.name_of(kind).replace("-", " ")


def _notes(kind: type[Any]) -> dict[str, str]:
    """Return the comments on the lines of the fields."""
    source = inspect.getsource(kind)
    notes: dict[str, str] = {}
    name = ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and re.match(rf"\s+{token.string}: ", token.line):
            name = token.string if token.string in kind._fields else name
        elif token.type == tokenize.COMMENT and not token.line.lstrip().startswith("#"):
            notes[name] = token.string.removeprefix("#").strip()
    return notes


def _plain(said: str) -> str:
    return " ".join(said.replace("``", "`").replace("|", "\\|").split())


def tables() -> list[str]:
    """Return the tables of the page, in its order."""
    return [table(own_kinds()), table(kinds_of_agents()), table(parts(), are_events=False)]


def with_tables(page: str) -> str:
    """Return the page with the tables as they are now."""
    made = iter(tables())
    return _TABLE.sub(lambda _found: next(made), page)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
