"""A translated expression: its code, how tightly it binds, and what is known of its value."""

from siding.ground.namedtuples import NamedTuple
from siding.workflows.javascript.kinds import ANY, Kind
from siding.workflows.javascript.layout import Code, Group, flat

LAMBDA, TERNARY, OR, AND, NOT, COMPARE, ADD, MULTIPLY, SIGN, AWAIT, ATOM = range(11)


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
