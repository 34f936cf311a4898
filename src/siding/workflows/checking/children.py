"""Which workflows a script calls, as far as its text says it."""

import ast
from collections.abc import Iterator

from siding.ground.namedtuples import NamedTuple


class Child(NamedTuple):
    """A workflow that a script calls: by its `name`, or by the `path` of its script."""

    name: str = ""
    path: str = ""


def children_in(tree: ast.AST) -> Iterator[Child]:
    """Yield the workflows that ``workflow(…)`` is called with as a literal, each once."""
    seen: set[Child] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_workflow(node.func):
            child = Child(name=_text(_asked(node)), path=_text(_keyword(node, "script_path")))
            if child != Child() and child not in seen:
                seen.add(child)
                yield child


def _is_workflow(called: ast.expr) -> bool:
    return isinstance(called, ast.Name) and called.id == "workflow"


def _asked(call: ast.Call) -> ast.expr | None:
    return call.args[0] if call.args else _keyword(call, "name")


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _text(value: ast.expr | None) -> str:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
