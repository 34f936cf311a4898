"""What a value is bound to: names, and patterns of names."""

from siding.workflows.javascript.escapes import quoted
from siding.workflows.javascript.kinds import ANY, Kind, inner
from siding.workflows.javascript.nodes import ArrayPattern, Name, ObjectPattern, Parameter, Target
from siding.workflows.javascript.translator import Translator, refuse
from siding.workflows.javascript.values import Value, atom


def member(value: Value, name: str) -> Value:
    """Return a property of an object: None if it is not known to be there, and is not."""
    kind = value.kind.keys.get(name)
    key = f"[{quoted(name)}]" if kind else f".get({quoted(name)})"
    return Value(code=(*value.at(10), key), kind=kind or ANY, is_pure=value.is_pure)


def parameter(
    t: Translator, node: Parameter, kind: Kind, loop: int | None = None
) -> tuple[str, list[str]]:
    """Declare what a call or a loop sets; return its Python name, and lines to begin with."""
    if node.is_rest:
        raise refuse("`...` in parameters")
    target = node.target
    if isinstance(target, Name):
        known = ANY if t.assigned.is_set(target.name) or node.default else kind
        python = t.scopes.parameter(target.name, known, loop)
    else:
        python = t.scopes.free("it")
        take_apart(t, target, atom(python, kind, is_pure=True), loop)
    if node.default is None:
        return python, []
    value = t.value(node.default)
    return python, [f"if {python} is None:", f"    {python} = {value.text}"]


def take_apart(t: Translator, target: Target, value: Value, loop: int | None = None) -> None:
    """Let the names of a pattern stand for the parts of a value, which has a simple name."""
    if isinstance(target, Name):
        raise refuse("a pattern in a pattern")
    if isinstance(target, ArrayPattern):
        _items(t, target, value, loop)
        return
    if target.rest is not None:
        raise refuse("`...` in a pattern")
    for key, part in target.properties:
        _part(t, part, member(value, key), loop)


def _items(t: Translator, target: ArrayPattern, value: Value, loop: int | None) -> None:
    for number, part in enumerate(target.items):
        if part is not None:
            kind = inner(value.kind) if value.kind.name == "list" else ANY
            found = t.helper("item", value.code, (str(number),))
            _part(t, part, found._replace(kind=kind, is_pure=True), loop)


def _part(t: Translator, part: Parameter, value: Value, loop: int | None) -> None:
    if part.is_rest or not isinstance(part.target, Name):
        raise refuse("a pattern in a pattern")
    name = part.target.name
    if t.assigned.is_set(name):
        raise refuse(f"{name!r} of a pattern is set later")
    if part.default is not None:
        default = t.value(part.default)
        text = f"({default.text} if {value.text} is None else {value.text})"
        t.scopes.bind(name, text, ANY, loop)
    else:
        t.scopes.bind(name, value.text, value.kind, loop)


def names_of(target: Target) -> list[str]:
    """Return the names that a target declares."""
    if isinstance(target, Name):
        return [target.name]
    if isinstance(target, ObjectPattern):
        parts = [part for _key, part in target.properties]
        rest = [target.rest] if target.rest else []
    else:
        parts, rest = [part for part in target.items if part is not None], []
    return [name for part in parts for name in names_of(part.target)] + rest


def loop_target(t: Translator, target: Target, kind: Kind, loop: int) -> tuple[str, list[str]]:
    """Declare what each round of a loop sets. A pattern of names stays one if it can."""
    if isinstance(target, ArrayPattern) and all(
        part is not None
        and isinstance(part.target, Name)
        and part.default is None
        and not part.is_rest
        for part in target.items
    ):
        of = inner(kind) if kind.name == "list" else ANY
        names = [
            t.scopes.parameter(part.target.name, of, loop)
            for part in target.items
            if part is not None and isinstance(part.target, Name)
        ]
        return ", ".join(names) + ("," if len(names) == 1 else ""), []
    return parameter(t, Parameter(target=target), kind, loop)
