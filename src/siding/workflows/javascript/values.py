"""A translated expression: its code, how tightly it binds, and what is known of its value.

The code is in pieces that know where they can be broken into lines. What is known is enough to
write plain Python where it does what JavaScript does.
"""

from collections.abc import Mapping
from typing import Union

from siding.ground.namedtuples import NamedTuple

PLAIN = frozenset(["str", "int", "num", "bool", "text", "null"])
SAME_TRUTH = PLAIN - {"num"}  # Python's is JavaScript's; NaN is true here and false there
NUMBERS = frozenset(["int", "num"])
WIDTH = 100
LAMBDA, TERNARY, OR, AND, NOT, COMPARE, ADD, MULTIPLY, SIGN, AWAIT, ATOM = range(11)
_IN_PYTHON = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


class Kind(NamedTuple):
    """The kind of a value.

    `of` is the kind of a list's items, of what a promise or a function gives. `keys` are those that
    an object has for certain. `takes` is how many arguments a function takes, -1 if not known,
    and `needs` how many it must get.
    """

    name: str
    of: Union["Kind", None] = None
    keys: Mapping[str, "Kind"] = {}
    takes: int = -1
    needs: int = 0


ANY = Kind(name="any")
STR = Kind(name="str")
INT = Kind(name="int")  # whole, and not below 0
NUM = Kind(name="num")
BOOL = Kind(name="bool")
TEXT = Kind(name="text")  # a string or null: what an agent returns
NULL = Kind(name="null")
VOID = Kind(name="void")  # what a function gives that only does something
ERROR = Kind(name="error")
SET = Kind(name="set")
MAP = Kind(name="map")


def list_of(kind: Kind) -> Kind:
    return Kind(name="list", of=kind)


def promise_of(kind: Kind) -> Kind:
    return Kind(name="promise", of=kind)


def function_of(kind: Kind, takes: int, needs: int = 0) -> Kind:
    return Kind(name="function", of=kind, takes=takes, needs=needs)


def object_with(keys: Mapping[str, Kind]) -> Kind:
    return Kind(name="object", keys=keys)


def inner(kind: Kind) -> Kind:
    """Return the kind of what is in it."""
    return kind.of or ANY


def both(one: Kind, other: Kind) -> Kind:
    """Return what is known of a value that is one or the other."""
    if one == other:
        return one
    names = {one.name, other.name}
    if names <= NUMBERS:
        return NUM
    if names <= {"str", "text", "null"}:
        return TEXT
    if one.name == other.name == "list":
        return list_of(both(inner(one), inner(other)))
    if one.name == other.name == "object":
        keys = {
            name: both(kind, other.keys[name])
            for name, kind in one.keys.items()
            if name in other.keys
        }
        return object_with(keys)
    return ANY


# -- Code in pieces --------------------------------------------------------------------------------


class Group(NamedTuple):
    """Items between brackets: on one line if there is room, else each on a line of its own."""

    opening: str
    items: tuple["Code", ...]
    closing: str
    separator: str = ","


Code = tuple[str | Group, ...]


def flat(code: Code) -> str:
    """Return code on one line."""
    return "".join(part if isinstance(part, str) else _flat_group(part) for part in code)


def _flat_group(group: Group) -> str:
    items = [flat(item) for item in group.items]
    tail = "," if group.opening == "(" and group.closing == ",)" else ""
    return group.opening + f"{group.separator} ".join(items) + tail.replace(",", "") + group.closing


def laid_out(code: Code, indent: int, used: int = 0) -> str:
    """Return code for a place with this indentation; `used` is what stands behind it."""
    whole = flat(code)
    if indent + len(whole) + used <= WIDTH or all(isinstance(part, str) for part in code):
        return whole
    lines = ""
    for part in code:
        if isinstance(part, str):
            lines += part
            continue
        column = indent + len(lines) - (lines.rfind("\n") + 1) * ("\n" in lines)
        if "\n" in lines:
            column = len(lines) - lines.rfind("\n") - 1
        text = _flat_group(part)
        lines += text if column + len(text) <= WIDTH or not part.items else _broken(part, indent)
    return lines


def _broken(group: Group, indent: int) -> str:
    inner = indent + 4
    lines = [f"{' ' * inner}{laid_out(item, inner, 1)}{group.separator}" for item in group.items]
    return "\n".join([group.opening, *lines, " " * indent + group.closing])


# -- Values ----------------------------------------------------------------------------------------


class Value(NamedTuple):
    """`is_pure`: it may be evaluated twice, or not at all."""

    code: Code
    kind: Kind = ANY
    level: int = ATOM
    is_pure: bool = False

    def at(self, level: int) -> Code:
        """Return the code for a place that wants this level, in parentheses if need be."""
        return self.code if self.level >= level else ("(", *self.code, ")")

    @property
    def text(self) -> str:
        return flat(self.code)


def atom(text: str, kind: Kind = ANY, *, is_pure: bool = False) -> Value:
    return Value(code=(text,), kind=kind, is_pure=is_pure)


def called(function: str, *arguments: Code, kind: Kind = ANY, is_pure: bool = False) -> Value:
    """Return the call of a function with a name."""
    code = (function, Group(opening="(", items=arguments, closing=")"))
    return Value(code=code, kind=kind, is_pure=is_pure)


def method(value: Value, name: str, *arguments: Code, kind: Kind = ANY) -> Value:
    """Return the call of a method."""
    group = Group(opening="(", items=arguments, closing=")")
    return Value(code=(*value.at(ATOM), f".{name}", group), kind=kind, is_pure=value.is_pure)


def binary(left: Code, sign: str, right: Code, level: int, kind: Kind, *, is_pure: bool) -> Value:
    return Value(code=(*left, f" {sign} ", *right), kind=kind, level=level, is_pure=is_pure)


def inside_quotes(text: str) -> str:
    """Return a text as it stands between double quotes in Python."""
    return "".join(map(_letter, text))


def quoted(text: str) -> str:
    """Return a text as a Python literal."""
    return f'"{inside_quotes(text)}"'


def _letter(letter: str) -> str:
    if letter in _IN_PYTHON:
        return _IN_PYTHON[letter]
    if letter.isprintable():
        return letter
    code = ord(letter)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
