"""The changes that `mutate.py` tries: small mistakes that a person could have made.

A comparison that is off by one or turned round; a condition that is negated, or lacks one of its
parts; a number that is one more or less; another value returned; a call, an exception or a
`continue` left out; another arithmetic. Annotations, assertions and texts are left alone.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_LEFT_OUT = (ast.Raise, ast.Continue, ast.AugAssign, ast.Delete)


class Mutation(NamedTuple):
    """One change: the bytes from `start` to `end` become `new`."""

    line: int
    lines: range  # of the statement, up to where the changed part ends: which tests run it
    line_text: str
    function: str  # the innermost one around it; "" for none
    start: int
    end: int
    change: str  # old -> new, and which of several equal ones
    new: str

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.new.encode() + source[self.end :]


def mutations_of(source: bytes) -> Iterator[Mutation]:
    """Yield the changes of a module, in the order of its lines."""
    lines = source.splitlines(keepends=True)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    found: list[Mutation] = []
    for node, new, function, first in _changes(ast.parse(source), None, 1):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = offsets[node.lineno - 1] + node.col_offset
        end = offsets[node.end_lineno - 1] + node.end_col_offset
        found.append(
            Mutation(
                line=node.lineno,
                lines=range(first, node.end_lineno + 1),
                line_text=lines[node.lineno - 1].decode().strip(),
                function="" if function is None else function.name,
                start=start,
                end=end,
                change=f"{ast.unparse(node)} -> {new}",
                new=new if isinstance(node, ast.stmt) else f"({new})",
            )
        )
    met = Counter[tuple[str, str, str]]()
    for each in sorted(found, key=lambda each: (each.start, each.end, each.change)):
        key = (each.function, each.line_text, each.change)
        met[key] += 1
        which = f" (number {met[key]})" if met[key] > 1 else ""
        yield each._replace(change=each.change + which)


Function = ast.FunctionDef | ast.AsyncFunctionDef
Change = tuple[ast.expr | ast.stmt, str]


def _changes(
    node: ast.AST, function: Function | None, first: int
) -> Iterator[tuple[ast.expr | ast.stmt, str, Function | None, int]]:
    """Yield nodes, what they become, the function they are in, and their statement's line."""
    if isinstance(node, ast.stmt):
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    for changed, new in _of_node(node, None if function is None else function.returns):
        yield changed, new, function, first
    if isinstance(node, Function):
        function = node
    for child in _worked_on(node):
        yield from _changes(child, function, first)


def _worked_on(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts that do something. Before Python 3.12 those of an f-string have no place."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases") or value is None:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.Assert | ast.JoinedStr):
                yield child


def _of_node(node: ast.AST, returns: ast.expr | None) -> Iterator[Change]:
    match node:
        case ast.Compare():
            yield from _compared(node)
        case ast.BoolOp():
            yield from _joined(node)
        case ast.BinOp() if type(node.op) in _COMPUTED:
            new = ast.BinOp(node.left, _COMPUTED[type(node.op)](), node.right)
            yield node, ast.unparse(new)
        case ast.UnaryOp(op=ast.Not()):
            yield node, ast.unparse(node.operand)
        case ast.Constant(value=bool() | int() | float()):
            yield from _constant(node)
        case ast.Return(value=ast.expr()):
            yield from _returned(node, returns)
        case ast.Expr(value=ast.Call()):
            yield node, "pass"
        case ast.stmt() if isinstance(node, _LEFT_OUT):
            yield node, "pass"
    for test in _conditions(node):
        if not _is_negated_anyway(test):
            yield test, f"not ({ast.unparse(test)})"


def _conditions(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        return [node.test]
    return node.ifs if isinstance(node, ast.comprehension) else []


def _is_negated_anyway(test: ast.expr) -> bool:
    """Tell whether the change of a part of the condition negates all of it."""
    if isinstance(test, ast.Compare):
        ordered = isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        return len(test.ops) == 1 and not ordered
    return isinstance(test, ast.UnaryOp | ast.Constant)


def _compared(node: ast.Compare) -> Iterator[Change]:
    for place, op in enumerate(node.ops):
        ops = [*node.ops]
        ops[place] = _COMPARED[type(op)]()
        yield node, ast.unparse(ast.Compare(node.left, ops, node.comparators))


def _joined(node: ast.BoolOp) -> Iterator[Change]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield node, ast.unparse(ast.BoolOp(other, node.values))
    for place in range(len(node.values)):
        rest = [*node.values[:place], *node.values[place + 1 :]]
        yield node, ast.unparse(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))


def _constant(node: ast.Constant) -> Iterator[Change]:
    if isinstance(node.value, bool):
        yield node, str(not node.value)
    elif isinstance(node.value, int | float):
        yield node, str(node.value + 1)
        yield node, str(node.value - 1)


def _returned(node: ast.Return, returns: ast.expr | None) -> Iterator[Change]:
    assert node.value is not None
    old = ast.unparse(node.value)
    is_bool = isinstance(returns, ast.Name) and returns.id == "bool"
    for new in ("True", "False") if is_bool else ("None",):
        if new != old and not (is_bool and isinstance(node.value, ast.Constant)):
            yield node, f"return {new}"
