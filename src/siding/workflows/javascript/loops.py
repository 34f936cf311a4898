"""Loops. A loop whose functions keep its names becomes a function that is called in each round."""

from collections.abc import Callable

from siding.workflows.javascript.functions import indented
from siding.workflows.javascript.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Declare,
    Expression,
    For,
    ForOf,
    Function,
    If,
    Jump,
    Member,
    Name,
    Number,
    Return,
    Run,
    Statement,
    Try,
    Update,
    While,
)
from siding.workflows.javascript.targets import loop_target, parameter
from siding.workflows.javascript.translator import Frame, Translator, refuse
from siding.workflows.javascript.values import (
    ANY,
    INT,
    Code,
    Kind,
    called,
    inner,
    laid_out,
    list_of,
)

Begin = Callable[[int], tuple[str, list[str]]]  # declares what a round of a loop sets


def for_of(t: Translator, node: ForOf) -> list[str]:
    """Translate ``for (const x of xs)``, and ``in`` for the names of an object."""
    items = t.value(node.items)
    if node.over_keys:
        source = t.helper("keys", items.code)
        kind: Kind = Kind(name="str")
    elif items.kind.name == "map":
        source, kind = called("list", (*items.at(10), ".items()")), list_of(ANY)
    else:
        source, kind = items, inner(items.kind) if items.kind.name == "list" else ANY
    before = t.flushed()

    def begin(loop: int) -> tuple[str, list[str]]:
        return loop_target(t, node.target, kind, loop)

    return [*before, *_rounds(t, begin, source.code, node.body)]


def for_each(t: Translator, node: Call) -> list[str]:
    """Translate ``xs.forEach(x => …)``."""
    assert isinstance(node.function, Member)
    callback = node.arguments[0] if len(node.arguments) == 1 else None
    if not isinstance(callback, Function) or callback.is_async or node.is_optional:
        raise refuse("`forEach` with such a function")
    if node.function.is_optional or not 1 <= len(callback.parameters) <= 2:
        raise refuse("`forEach` with such a function")
    body = callback.body
    if callback.value is not None:
        what = Run(value=callback.value)
        body = (Statement(what=what, start=callback.value.at, end=callback.value.at),)
    if _jumps(body, Return):
        raise refuse("`return` in `forEach`")
    items = t.value(node.function.value)
    kind = inner(items.kind) if items.kind.name == "list" else ANY
    has_index = len(callback.parameters) == 2
    before = t.flushed()

    def begin(loop: int) -> tuple[str, list[str]]:
        name, lines = parameter(t, callback.parameters[0], kind, loop)
        if not has_index:
            return name, lines
        index, _more = parameter(t, callback.parameters[1], INT, loop)
        return f"{index}, {name}", lines

    over = items.code
    if isinstance(node.function.value, Name) and node.function.value.name in t.assigned.grown:
        over = called("list", over).code  # it goes over the items that there are when it begins
    source = called("enumerate", over).code if has_index else over
    return [*before, *_rounds(t, begin, source, body)]


def _rounds(t: Translator, begin: Begin, source: Code, body: tuple[Statement, ...]) -> list[str]:
    undo, loop = t.snapshot(), t.new_loop()
    t.active.append(loop)
    with t.block():
        name, first = begin(loop)
        lines = [*indented(first), *t.inside(body)]
    t.active.pop()
    if loop not in t.scopes.captured:
        return [laid_out((f"for {name} in ", *source, ":"), 0, 0), *lines]
    undo()
    if _jumps(body, Return) or _jumps(body, Jump):
        raise refuse("a loop that is left early, and whose functions keep its names")
    around = t.scopes.frame
    function = t.scopes.free("each")
    frame = t.scopes.frame = Frame(around)
    active, t.active = t.active, []
    with t.block():
        name, first = begin(0)
        lines = [*indented(first), *t.inside(body)]
    t.scopes.frame, t.active = around, active
    outer = [f"    nonlocal {', '.join(sorted(frame.outer))}"] if frame.outer else []
    around.outer |= {each for each in frame.outer if each not in around.names}
    word, wait = ("async def", "await ") if frame.awaits else ("def", "")
    around.awaits = around.awaits or frame.awaits
    return [
        f"{word} {function}({name}):",
        *outer,
        *lines,
        "",
        laid_out((f"for {name} in ", *source, ":"), 0, 0),
        f"    {wait}{function}({name})",
    ]


def while_loop(t: Translator, node: While) -> list[str]:
    """Translate ``while (…)``."""
    test = t.condition(node.test)
    before = t.flushed()
    return [*before, laid_out(("while ", *test.code, ":"), 0), *_repeated(t, node.body)]


def _repeated(t: Translator, body: tuple[Statement, ...]) -> list[str]:
    loop = t.new_loop()
    t.active.append(loop)
    lines = t.inside(body)
    t.active.pop()
    if loop in t.scopes.captured:
        raise refuse("a loop whose functions keep its names")
    return lines


def for_steps(t: Translator, node: For) -> list[str]:
    """Translate ``for (let i = 0; i < n; i++)``, and other loops with three parts."""
    counted = _counted(t, node)
    if counted is not None:
        return counted
    if node.step is not None and _jumps(node.body, Jump, "continue"):
        raise refuse("`continue` in such a loop")
    with t.block():
        lines = [] if node.first is None else t.statement(node.first)
        test = ("True",) if node.test is None else t.condition(node.test).code
        lines += [*t.flushed(), laid_out(("while ", *test, ":"), 0), *_repeated(t, node.body)]
        if node.step is not None:
            step = Statement(what=Run(value=node.step), start=node.step.at, end=node.step.at)
            if lines[-1].strip() == "pass":
                lines.pop()
            lines += indented(t.statement(step))
    return lines


def _counted(t: Translator, node: For) -> list[str] | None:
    """Translate a loop that counts up to something that stays as it is."""
    match node:
        case For(
            first=Statement(what=Declare(pairs=((Name(name=name), init),))),
            test=Binary(left=Name(name=tested), sign="<" | "<=" as sign, right=end),
            step=Update(sign="++", target=Name(name=stepped)),
        ) if tested == stepped == name and init is not None:
            first: Expression = init
        case _:
            return None
    if t.assigned.signs.get(name, set()) != {"++"} or _sets(node.body, name):
        return None
    if not _stays(t, end):
        return None
    begin_at, end_at = t.value(first), t.value(end)
    if begin_at.kind != INT:
        return None
    after = (*end_at.at(6), " + 1") if sign == "<=" else end_at.code
    starts: tuple[Code, ...] = () if begin_at.text == "0" else (begin_at.code,)
    source = called("range", *starts, after).code
    before = t.flushed()

    def begin(loop: int) -> tuple[str, list[str]]:
        return t.scopes.parameter(name, INT, loop), []

    return [*before, *_rounds(t, begin, source, node.body)]


def _stays(t: Translator, node: Expression) -> bool:
    """Tell whether an expression is the same in each round."""
    match node:
        case Number():
            return True
        case Name(name=name):
            return not t.assigned.is_set(name) and name not in t.assigned.grown
        case Member(value=value, name=name, is_optional=False):
            return name not in t.assigned.properties and _stays(t, value)
        case Binary(left=left, sign="+" | "-" | "*", right=right):
            return _stays(t, left) and _stays(t, right)
        case _:
            return False


def _sets(statements: tuple[Statement, ...], name: str) -> bool:
    """Tell whether the text of a body sets a name. The head's own step is not in it."""
    for one in statements:
        match one.what:
            case Run(value=Update(target=Name(name=found)) | Assign(target=Name(name=found))):
                if found == name:
                    return True
            case _:
                if any(_sets(inner_, name) for inner_ in _blocks(one)):
                    return True
    return False


def _blocks(one: Statement) -> list[tuple[Statement, ...]]:
    match one.what:
        case If(then=then, otherwise=otherwise):
            return [then, otherwise]
        case ForOf(body=body) | For(body=body) | While(body=body) | Block(body=body):
            return [body]
        case Try(body=body, handler=handler, final=final):
            return [body, handler or (), final or ()]
        case _:
            return []


def _jumps(statements: tuple[Statement, ...], kind: type, word: str = "") -> bool:
    """Tell whether statements leave the loop that they are in."""
    for one in statements:
        if isinstance(one.what, kind) and (not word or getattr(one.what, "word", "") == word):
            return True
        is_loop = isinstance(one.what, ForOf | For | While)
        if is_loop and kind is Jump:
            continue
        if any(_jumps(block, kind, word) for block in _blocks(one)):
            return True
    return False
