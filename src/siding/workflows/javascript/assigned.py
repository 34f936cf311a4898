"""Find which names a script sets after they were declared, without regard to blocks."""

from dataclasses import fields, is_dataclass

from siding.workflows.javascript.kinds import ANY, INT, NUM, STR, Kind, list_of
from siding.workflows.javascript.nodes import (
    Array,
    Assign,
    Call,
    Expression,
    Index,
    Member,
    Name,
    Number,
    Update,
)

_GROW = frozenset(["push", "unshift", "splice", "fill", "sort", "reverse", "pop", "shift"])


class Assigned:
    """What a script does to its names."""

    def __init__(self, nodes: tuple[object, ...]) -> None:
        self.signs: dict[str, set[str]] = {}
        self.grown: set[str] = set()
        self.properties: set[str] = set()
        left: list[object] = [nodes]
        while left:
            node = left.pop()
            self._read(node)
            if isinstance(node, tuple):
                left.extend(node)
            elif is_dataclass(node):
                left.extend(getattr(node, field.name) for field in fields(node))

    def _read(self, node: object) -> None:
        match node:
            case Assign(target=target, sign=sign, value=value):
                is_count = sign == "+=" and isinstance(value, Number)
                self._set(target, "++" if is_count else sign)
            case Update(target=target, sign=sign):
                self._set(target, sign)
            case Call(function=Member(value=Name(name=name), name=does)) if does in _GROW:
                self.grown.add(name)

    def _set(self, target: Expression, sign: str) -> None:
        match target:
            case Name(name=name):
                self.signs.setdefault(name, set()).add(sign)
            case Member(name=name):
                self.properties.add(name)
            case Index(value=Name(name=name)):
                self.grown.add(name)
            case Array(items=items):
                for each in items:
                    self._set(each, sign)

    def is_set(self, name: str) -> bool:
        """Tell whether a name is given another value somewhere."""
        return bool(self.signs.get(name))

    def kind_of(self, name: str, kind: Kind) -> Kind:
        """Return what is known of a name that begins with a value of this kind."""
        signs = self.signs.get(name, set())
        if signs & {"=", "&&=", "||=", "??="}:
            return ANY
        if signs and kind in (INT, NUM):
            if "+=" in signs:
                return ANY
            return INT if kind == INT and signs == {"++"} else NUM
        if signs and kind != STR:
            return ANY
        if name in self.grown and kind.name == "list":
            return list_of(ANY)
        return kind
