"""Functions that the methods of lists call: comprehensions where that is the same."""

from siding.workflows.javascript.kinds import ANY, BOOL, INT, SAME_TRUTH, Kind, inner, list_of
from siding.workflows.javascript.layout import Code, Group
from siding.workflows.javascript.nodes import Expression, Function, Name, Return
from siding.workflows.javascript.targets import parameter
from siding.workflows.javascript.texts import as_text
from siding.workflows.javascript.translator import Translator, refuse
from siding.workflows.javascript.values import (
    LAMBDA,
    OR,
    Value,
    atom,
    called,
)


def mapped(t: Translator, value: Value, callback: Expression) -> Value:
    """Translate ``value.map(callback)``."""
    item, source, made = _made(t, value, callback)
    code = (_comprehension("[", made, item, source, "]"),)
    return Value(code=code, kind=list_of(made.kind), is_pure=value.is_pure and made.is_pure)


def predicate(
    t: Translator, value: Value, callback: Expression, form: str, *, keeps: bool = False
) -> Value:
    """Translate a method that asks of each item whether it is wanted."""
    item, source, made = _made(t, value, callback, asks=True)
    opening, closing = form.split("{}")
    if keeps:
        one = item.split(", ")[-1] if "," in item else item
        wanted = (*source, " if ", *made.at(OR))
        group = _comprehension(opening, atom(one), item, wanted, closing)
        kind = list_of(inner(value.kind))
    else:
        group = _comprehension(opening, made, item, source, closing)
        kind = BOOL
    return Value(code=(group,), kind=kind, is_pure=value.is_pure and made.is_pure)


def _comprehension(opening: str, made: Value, item: str, source: Code, closing: str) -> Group:
    each: Code = (*made.code, f" for {item} in ", *source)
    return Group(opening=opening, items=(each,), closing=closing, separator="")


def _made(
    t: Translator, value: Value, callback: Expression, *, asks: bool = False
) -> tuple[str, Code, Value]:
    """Return the loop's name, what it goes over, and what the callback makes of an item."""
    of = inner(value.kind) if value.kind.name == "list" else ANY
    if isinstance(callback, Function):
        found = _inline(t, value, callback, of, asks=asks)
        if found is not None:
            return found
    if isinstance(callback, Name) and t.scopes.find_quietly(callback.name) is None:
        item = t.scopes.free("one")
        made = _built_in(t, callback.name, atom(item, of, is_pure=True), asks=asks)
        return item, value.at(OR), made
    function = with_function(t, callback, (of, INT), -1)
    takes = function.kind.takes
    if inner(function.kind).name == "void":
        raise refuse("a callback that sets something and gives it back")
    if takes not in {0, 1, 2}:
        raise refuse("a callback with that many parameters")
    name = t.scopes.free("one")
    index = t.scopes.free("index") if takes == 2 else ""
    given = [(name,), (index,)][:takes]
    head = (function.text,) if function.level > LAMBDA else ("(", *function.code, ")")
    code: Code = (*head, Group(opening="(", items=tuple(given), closing=")"))
    made = Value(code=code, kind=function.kind.of or ANY)
    if asks and made.kind.name not in SAME_TRUTH:
        made = t.helper("truthy", made.code)._replace(kind=BOOL)
    if index:
        return f"{index}, {name}", called("enumerate", value.code).code, made
    return name, value.at(OR), made


def _built_in(t: Translator, name: str, item: Value, *, asks: bool) -> Value:
    match name:
        case "Boolean":
            if item.kind.name in SAME_TRUTH:
                return item if asks else called("bool", item.code, kind=BOOL)
            return t.helper("truthy", item.code)._replace(kind=BOOL, is_pure=True)
        case "String" if not asks:
            return as_text(t, item)
        case "Number" if not asks:
            return t.helper("number", item.code)
        case _:
            raise refuse(f"the name {name!r} is not known")


def _inline(
    t: Translator, value: Value, callback: Function, of: Kind, *, asks: bool
) -> tuple[str, Code, Value] | None:
    """Return the callback's expression for a comprehension; None if it must be a function."""
    expression = single(callback)
    if expression is None or callback.is_async or not 1 <= len(callback.parameters) <= 2:
        return None
    if any(one.default is not None for one in callback.parameters):
        return None
    undo, loop = t.snapshot(), t.new_loop()
    hoisted = len(t.scopes.frame.hoisted)
    with t.block():
        item, begins = parameter(t, callback.parameters[0], of, loop)
        index = ""
        if len(callback.parameters) == 2:
            index, _lines = parameter(t, callback.parameters[1], INT, loop)
        made: Value | None = t.condition(expression) if asks else t.value(expression)
    assert made is not None
    if begins:
        undo()
        return None
    if len(t.scopes.frame.hoisted) == hoisted and loop in t.scopes.captured and not asks:
        made = _with_defaults(made, [item, index] if index else [item])
    elif loop in t.scopes.captured or len(t.scopes.frame.hoisted) > hoisted:
        made = None
    if made is None:
        undo()
        return None
    if index:
        return f"{index}, {item}", called("enumerate", value.code).code, made
    return item, value.at(OR), made


def _with_defaults(made: Value, names: list[str]) -> Value | None:
    """Let a function without parameters keep the names of the round in which it is made."""
    if made.kind.takes != 0 or made.code[0] != "lambda: " or not all(map(str.isidentifier, names)):
        return None
    kept = ", ".join(f"{name}={name}" for name in names)
    return made._replace(code=(f"lambda {kept}: ", *made.code[1:]))


def single(function: Function) -> Expression | None:
    """Return the expression that a function is, if it is just that."""
    if function.value is not None:
        return function.value
    if len(function.body) == 1 and not function.body[0].comments:
        what = function.body[0].what
        return what.value if isinstance(what, Return) else None
    return None


def with_function(
    t: Translator, callback: Expression, kinds: tuple[Kind, ...], takes: int
) -> Value:
    """Return a callback as a function that takes so many arguments, -1 for any number."""
    if isinstance(callback, Function):
        found = t.function(callback, "step", kinds, immediate=True)
    else:
        found = t.value(callback)
    if found.kind.name != "function" or (takes >= 0 and found.kind.takes != takes):
        raise refuse("a callback that is not known, or takes another number of arguments")
    return found
