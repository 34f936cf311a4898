"""Find names that a script may not use, set, import or define."""

import ast
from collections.abc import Iterator

from siding.workflows.allowed import (
    DUNDER_METHODS,
    DUNDER_NAMES,
    INJECTED,
    REFUSED_NAMES,
    is_dunder,
)
from siding.workflows.problems import Problem, problem_at

_READABLE = frozenset({"__name__", "__debug__"})
_OTHER = "choose another name"


def problems_with_names(node: ast.AST) -> Iterator[Problem]:
    """Yield the problems with the names that a node uses or sets."""
    match node:
        case ast.Name():
            yield from _named(node)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield from _defined(node)
        case ast.alias():
            yield from _aliased(node)
        case _:
            pass


def _defined(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
) -> Iterator[Problem]:
    if node.name in INJECTED:
        yield problem_at(node, f"{node.name!r} is a name of workflows", _OTHER)
    if is_dunder(node.name) and node.name not in DUNDER_METHODS:
        yield problem_at(node, f"a method {node.name!r}", REFUSED_NAMES["vars"])
    if isinstance(node, ast.ClassDef):
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in {"type", "EnumMeta", "EnumType"}:
                yield problem_at(node, "a class of classes", "write plain classes, or a function")


def _aliased(node: ast.alias) -> Iterator[Problem]:
    name = node.asname or node.name
    if name in INJECTED:
        yield problem_at(node, f"{name!r} is a name of workflows", _OTHER)
    if is_dunder(name) and name != "__future__":
        yield problem_at(node, f"the name {name!r}", REFUSED_NAMES["vars"])


def _named(node: ast.Name) -> Iterator[Problem]:
    if node.id in REFUSED_NAMES and isinstance(node.ctx, ast.Load):
        yield problem_at(node, f"{node.id!r} is not there in a workflow", REFUSED_NAMES[node.id])
    elif node.id in INJECTED and not isinstance(node.ctx, ast.Load):
        yield problem_at(node, f"{node.id!r} is a name of workflows and cannot be set", _OTHER)
    elif is_dunder(node.id) and not (
        node.id in _READABLE if isinstance(node.ctx, ast.Load) else node.id in DUNDER_NAMES
    ):
        yield problem_at(node, f"the name {node.id!r}", REFUSED_NAMES["vars"])
