"""What is known of a value: enough to write plain Python where it does what JavaScript does."""

from collections.abc import Mapping
from typing import Union

from siding.ground.namedtuples import NamedTuple


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
PLAIN = frozenset(["str", "int", "num", "bool", "text", "null"])
SAME_TRUTH = PLAIN - {"num"}  # Python's is JavaScript's; NaN is true here and false there
NUMBERS = frozenset(["int", "num"])


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
