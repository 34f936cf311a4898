"""What a value is bound to: names, and patterns of names."""

from siding.workflows.javascript.nodes import ArrayPattern, Name, ObjectPattern, Parameter, Target
from siding.workflows.javascript.translator import Translator, refuse
from siding.workflows.javascript.values import ANY, TERNARY, Kind, Value, atom, flat, inner, quoted


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
    begins: list[str] = []
    if node.default is not None:
        t.note(
            node.default.at, "a default is also taken for null here, and not for undefined alone"
        )
        begins = [f"if {python} is None:", f"    {python} = {t.value(node.default).text}"]
    if not isinstance(target, Name):
        begins += _parts(t, target, atom(python, kind, is_pure=True), loop)
    return python, begins


def _parts(t: Translator, target: Target, value: Value, loop: int | None) -> list[str]:
    """Declare the names of a pattern; return the lines that give them their values.

    There are none if a name may stand for its part of the value wherever it is used.
    """
    if not _may_differ(t, target):
        take_apart(t, target, value, loop)
        return []
    with t.block():
        take_apart(t, target, value, loop)
        found = {name: t.scopes.blocks[-1][name] for name in names_of(target)}
    return [
        f"{t.scopes.declare(name, part.kind, loop=loop)} = {part.python}"
        for name, part in found.items()
    ]


def _may_differ(t: Translator, target: Target) -> bool:
    """Tell whether a part may be another one later, or is made anew each time."""
    if isinstance(target, ObjectPattern):
        changed = any(key in t.assigned.properties for key, _part in target.properties)
        return changed or any(part.default is not None for _key, part in target.properties)
    items = target.items if isinstance(target, ArrayPattern) else ()
    return any(part is not None and part.default is not None for part in items)


def take_apart(t: Translator, target: Target, value: Value, loop: int | None = None) -> None:
    """Let the names of a pattern stand for the parts of a value, which has a simple name."""
    if isinstance(target, Name):
        raise refuse("a pattern in a pattern")
    if isinstance(target, ArrayPattern):
        if value.kind.name in {"set", "map", "object"}:
            raise refuse(f"a pattern of a {value.kind.name}'s items")
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
        t.note(
            part.default.at, "a default is also taken for null here, and not for undefined alone"
        )
        default = t.value(part.default)
        otherwise = flat(default.at(TERNARY + 1))
        text = f"({otherwise} if {value.text} is None else {value.text})"
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
