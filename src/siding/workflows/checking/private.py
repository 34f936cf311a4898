"""Find attributes that begin with an underscore and are not of the script's own making."""

import ast
from collections.abc import Iterator

from siding.workflows.allowed import NAMEDTUPLE_ATTRIBUTES, is_dunder
from siding.workflows.problems import Problem, problem_at


def foreign_private_attributes(tree: ast.Module) -> Iterator[Problem]:
    """Yield a problem for each use of a private attribute that nothing in the script defines."""
    own = _defined(tree) | NAMEDTUPLE_ATTRIBUTES
    for node in ast.walk(tree):
        for name in _attributes(node):
            if name.startswith("_") and not is_dunder(name) and name not in own:
                remedy = "use what is public; a workflow needs only plain values"
                yield problem_at(node, f"the private attribute {name!r}", remedy)


def _attributes(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return [node.attr]
    return node.kwd_attrs if isinstance(node, ast.MatchClass) else []


def _defined(tree: ast.Module) -> set[str]:
    """Return what the script's own classes and their methods set or define."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                names.add(node.name)
            case ast.Attribute(ctx=ast.Store(), value=ast.Name(id="self" | "cls")):
                names.add(node.attr)
            case ast.ClassDef():
                names.update(_set_in(node))
            case _:
                pass
    return names


def _set_in(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        for inner in ast.walk(statement):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id
