"""Functions: a lambda where it is enough, else a `def` before the statement.

What the methods of lists call becomes a comprehension where that is the same.
"""

from siding.workflows.javascript.acts import is_act
from siding.workflows.javascript.nodes import (
    Await,
    Expression,
    Function,
    Name,
    Return,
    Run,
    Statement,
)
from siding.workflows.javascript.operators import as_text
from siding.workflows.javascript.targets import parameter
from siding.workflows.javascript.translator import Frame, Translator, refuse
from siding.workflows.javascript.values import (
    ANY,
    BOOL,
    INT,
    LAMBDA,
    OR,
    SAME_TRUTH,
    TERNARY,
    VOID,
    Code,
    Group,
    Kind,
    Value,
    atom,
    called,
    function_of,
    inner,
    laid_out,
    list_of,
    promise_of,
)

INDENT = "    "


def function_value(
    t: Translator, node: Function, name: str, kinds: tuple[Kind, ...], *, immediate: bool
) -> Value:
    """Translate a function that is a value."""
    expression = single(node)
    undo = t.snapshot()
    if expression is not None:
        found = _lambda(t, node, expression, kinds, immediate=immediate)
        if found is not None:
            return found
        undo()
    python = t.scopes.free(name)
    lines, kind = definition(t, node, python, kinds, immediate=immediate)
    if inner(kind).name == "void":
        raise refuse("a function that changes something and gives it back")
    t.scopes.frame.hoisted.extend(lines)
    return atom(python, kind, is_pure=True)


def _lambda(
    t: Translator,
    node: Function,
    expression: Expression,
    kinds: tuple[Kind, ...],
    *,
    immediate: bool,
) -> Value | None:
    around = t.scopes.frame
    frame = t.scopes.frame = Frame(around, immediate=immediate)
    if node.is_async and isinstance(expression, Await):
        expression = expression.value
    with t.block():
        names, begins = _parameters(t, node, kinds)
        if begins or is_act(expression):
            return None
        value = t.value(expression)
    t.scopes.frame = around
    is_promise = value.kind.name == "promise"
    if frame.awaits or frame.hoisted or (node.is_async and not is_promise):
        return None
    head = f"lambda {', '.join(names)}: " if names else "lambda: "
    kind = function_of(value.kind, len(names), _needs(node))
    return Value(code=(head, *value.at(TERNARY)), kind=kind, level=LAMBDA, is_pure=True)


def definition(
    t: Translator,
    node: Function,
    python: str,
    kinds: tuple[Kind, ...] = (),
    *,
    immediate: bool = False,
) -> tuple[list[str], Kind]:
    """Return the lines of a `def`, and what kind of function it is."""
    around = t.scopes.frame
    frame = t.scopes.frame = Frame(around, immediate=immediate)
    before, t.active = t.active, []
    result = ANY
    with t.block():
        frame.depth = len(t.scopes.blocks)
        names, begins = _parameters(t, node, kinds)
        optional = {line.split()[1] for line in begins if line.startswith("if ")}
        if node.value is not None:
            lines, result = _returned(t, node.value)
        else:
            lines = t.body(node.body)
    t.scopes.frame, t.active = around, before
    if frame.awaits and not node.is_async:
        raise refuse("`await` in a function that is not async")
    given = ", ".join(f"{name}=None" if name in optional else name for name in names)
    word = "async def" if node.is_async else "def"
    outer = [f"nonlocal {', '.join(sorted(frame.outer))}"] if frame.outer else []
    inside = [*outer, *begins, *lines] or ["pass"]
    kind = promise_of(inner(result) if result.name == "promise" else result)
    of = kind if node.is_async else result
    whole = [f"{word} {python}({given}):", *indented(inside), ""]
    around.outer |= {name for name in frame.outer if name not in around.names}
    return whole, function_of(of, len(names), _needs(node))


def _returned(t: Translator, node: Expression) -> tuple[list[str], Kind]:
    if is_act(node):
        whole = Statement(what=Run(value=node), start=node.at, end=node.at)
        return t.body((whole,)), VOID
    value = t.value(node)
    return [*_hoisted(t), laid_out(("return ", *value.code), 0)], value.kind


def _hoisted(t: Translator) -> list[str]:
    lines, t.scopes.frame.hoisted = t.scopes.frame.hoisted, []
    return lines


def _parameters(
    t: Translator, node: Function, kinds: tuple[Kind, ...]
) -> tuple[list[str], list[str]]:
    names: list[str] = []
    begins: list[str] = []
    for number, each in enumerate(node.parameters):
        kind = kinds[number] if number < len(kinds) else ANY
        if isinstance(each.target, Name) and each.target.name in names:
            raise refuse("two parameters of one name")
        name, lines = parameter(t, each, kind)
        names.append(name)
        begins.extend(lines)
    return names, begins


def _needs(node: Function) -> int:
    needed = [at for at, each in enumerate(node.parameters, 1) if each.default is None]
    return max(needed, default=0)


def indented(lines: list[str]) -> list[str]:
    """Return lines one level deeper."""
    return [f"{INDENT}{line}" if line else "" for line in lines]


# -- Functions that the methods of lists call ------------------------------------------------------


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
