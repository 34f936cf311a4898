"""Values are put into the text of a JSON document, and taken out of it, in place.

Everything else of the text stays as it is: its layout, its comments, its line ends, its order. What
was put in comes out again byte for byte:

- Behind the last value of an object or array a comma goes in with the new value, and out with it.
- Into an empty one the new value goes directly behind the bracket. Containers that are put in begin
  with whitespace. So one that has become empty again tells whether it was there before.

A path names a value by the names and numbers that lead to it. Of names that are there twice the
last one counts, as for every reader of JSON.
"""

import json
import re
from typing import Any

from siding.agents.settings import NotMergeable, without_comments
from siding.ground.namedtuples import NamedTuple

Path = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r'"(?:\\.|[^"\\])*"|[^\s,\]}]+')
_INDENT = re.compile(r"^[ \t]+(?=\S)", re.MULTILINE)
_BREAK = re.compile(r"\n\s*")
_BOM = "\ufeff"


class _Node(NamedTuple):
    """A value in the text: where its name, or itself, begins, and where it ends."""

    key: str | int  # in its container
    start: int
    value: int
    end: int
    children: tuple["_Node", ...]


def parsed(text: str, *, comments: bool) -> Any:
    """Return what a document says. `comments`: may it have some? Raises NotMergeable."""
    try:
        return json.loads(_plain(text) if comments else text.removeprefix(_BOM))
    except (ValueError, RecursionError) as error:
        raise NotMergeable(f"it is not plain JSON: {error}") from None


def grown(text: str, before: Any, after: Any, path: Path = ()) -> str:
    """Return the text of `before` changed to say `after`, which has more at the end of arrays, and
    more members in objects, and differs in nothing else."""
    if before is after or before == after:  # NaN is not equal to itself
        return text
    known = dict(before.items() if isinstance(before, dict) else enumerate(before))
    for key, value in after.items() if isinstance(after, dict) else enumerate(after):
        if key in known:
            text = grown(text, known[key], value, (*path, key))
        else:
            text = put_in(text, (*path, key), value)
    return text


def put_in(text: str, path: Path, value: Any) -> str:
    """Return the text with a value in the container that is at `path[:-1]`, as its last one.

    `path[-1]` is the name of a new member, or the number of items in an array.
    """
    container = _at(text, path[:-1])
    newline = "\r\n" if "\r\n" in text else "\n"
    children = container.children
    begins = children[0].start if children else container.value + 1
    lead = text[container.value + 1 : begins]
    found = _INDENT.search(text)
    unit = found[0] if found else "  "
    margin = _margin(text, begins) if "\n" in lead else _margin(text, container.value) + unit
    beside = text[container.value : children[0].end] if children else text.strip()
    is_open = "\n" in beside or not text.strip("\ufeff{} \r\n\t")
    laid = _laid(value, newline + margin, unit) if is_open else one_line(value)
    if isinstance(path[-1], str):
        laid = f"{json.dumps(path[-1], ensure_ascii=False)}: {laid}"
    if not children:
        return text[:begins] + laid + text[begins:]
    at = children[-1].end
    separator = "," + (newline + margin if is_open else " ")
    return text[:at] + separator + laid + text[at:]


def take_out(text: str, path: Path, *, is_laid_anew: bool = False) -> tuple[str, bool]:
    """Return the text without the value at `path`, and whether nothing is left of its container but
    brackets that were put in with it.

    Where the text was laid out anew nobody can tell, and any empty brackets count as put in.
    """
    container = _at(text, path[:-1])
    children = container.children
    child = _child(container, path[-1])
    number = children.index(child)
    if number:
        return _cut(text, children[number - 1].end, child.start, child.end, child.end), False
    if len(children) > 1:
        return _cut(text, child.start, child.start, child.end, children[1].start), False
    opened = container.value + 1
    around = text[opened : child.start] + text[child.end : container.end - 1]
    if around.strip() or (opened == child.start and not is_laid_anew):
        return text[: child.start] + text[child.end :], False
    return text[:opened] + text[container.end - 1 :], True


def is_adjacent(text: str, path: Path) -> bool:
    """Tell whether the value at `path` stands directly behind the bracket of its container."""
    return _at(text, path).start == _at(text, path[:-1]).value + 1


def one_line(value: Any) -> str:
    """Return a value as text in one line, with whitespace behind each bracket."""
    return _laid(value, " ", "")


def _laid(value: Any, line_break: str, unit: str) -> str:
    """Return a value as text, with `line_break` before each line but the first."""
    text = json.dumps(value, indent=unit, ensure_ascii=False)
    if not unit:
        return _BREAK.sub(line_break, text)
    return text.replace("\n", line_break)


def _cut(text: str, start: int, first: int, last: int, end: int) -> str:
    """Return the text without start:end; comments of a person's beside first:last stay."""
    kept = (_without_comma(text[start:first]), _without_comma(text[last:end]))
    return text[:start] + "".join(kept) + text[end:]


def _without_comma(between: str) -> str:
    """Return what is between two values without its comma; nothing if that is all there is."""
    if not between.strip(" \t\r\n,"):
        return ""
    at = without_comments(between).find(",")
    return between[:at] + between[at + 1 :] if at >= 0 else between


def _margin(text: str, at: int) -> str:
    """Return the whitespace with which the line of a place begins."""
    begins = text.rfind("\n", 0, at) + 1
    found = _SPACE.match(text, begins, at)
    return found[0] if found else ""


def _plain(text: str) -> str:
    """Return a text of the same length without its comments and byte order mark."""
    plain = without_comments(text)
    return " " + plain[1:] if plain.startswith(_BOM) else plain


def _at(text: str, path: Path) -> _Node:
    plain = _plain(text)
    try:
        node, _ = _read(plain, _skip(plain, 0), 0)
    except RecursionError:
        raise NotMergeable("it is nested too deeply") from None
    for step in path:
        node = _child(node, step)
    return node


def _child(node: _Node, key: str | int) -> _Node:
    return next(child for child in reversed(node.children) if child.key == key)


def _skip(plain: str, at: int) -> int:
    return _end(_SPACE, plain, at)


def _end(token: re.Pattern[str], plain: str, at: int) -> int:
    found = token.match(plain, at)
    assert found is not None
    return found.end()


def _read(plain: str, at: int, key: str | int) -> tuple[_Node, int]:
    """Return the value of a valid document that begins here, and where the next token is.

    It begins with its name if `key` is one.
    """
    value = at
    if isinstance(key, str):
        value = _skip(plain, _skip(plain, _end(_SCALAR, plain, at)) + 1)
    if plain[value] not in "{[":
        end = _end(_SCALAR, plain, value)
        return _Node(key=key, start=at, value=value, end=end, children=()), _skip(plain, end)
    children: list[_Node] = []
    inside = _skip(plain, value + 1)
    while plain[inside] not in "}]":
        name: str | int = len(children)
        if plain[value] == "{":
            name = json.loads(plain[inside : _end(_SCALAR, plain, inside)])
        child, inside = _read(plain, inside, name)
        children.append(child)
        if plain[inside] == ",":
            inside = _skip(plain, inside + 1)
    end = inside + 1
    node = _Node(key=key, start=at, value=value, end=end, children=tuple(children))
    return node, _skip(plain, end)
