"""Functions: a lambda where it is enough, else a `def` before the statement."""

from siding.workflows.javascript.acts import is_act
from siding.workflows.javascript.callbacks import single
from siding.workflows.javascript.kinds import ANY, VOID, Kind, function_of, inner, promise_of
from siding.workflows.javascript.layout import laid_out
from siding.workflows.javascript.nodes import Await, Expression, Function, Name, Run, Statement
from siding.workflows.javascript.scope import Frame
from siding.workflows.javascript.targets import parameter
from siding.workflows.javascript.translator import Translator, refuse
from siding.workflows.javascript.values import LAMBDA, TERNARY, Value, atom

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
