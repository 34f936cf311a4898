"""Find uses of what a module or a built-in function does not have here."""

import ast
from collections.abc import Iterator

from siding.workflows.allowed import MODULES, ONLY, REFUSED_NAMES, is_given
from siding.workflows.problems import Problem, problem_at

_CLOCKS = {"now", "utcnow", "today"}


def uses_of_super(tree: ast.Module) -> Iterator[Problem]:
    """Yield a problem for each `super` that is not ``super()``: it would reach past our classes."""
    plain = {
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and not node.args and not node.keywords
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "super" and id(node) not in plain:
            yield problem_at(
                node, "`super` with arguments, or under another name", "write `super()`"
            )


def uses_of_modules(tree: ast.Module) -> Iterator[Problem]:
    """Yield a problem for each name of a module that it does not have here, and for clocks."""
    modules = dict(_imported(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        module = modules.get(node.value.id, "") if isinstance(node.value, ast.Name) else ""
        if module and not is_given(module, node.attr):
            has = ", ".join(sorted(ONLY.get(module, ())))
            remedy = f"{module} has here: {has}" if has else REFUSED_NAMES["vars"]
            yield problem_at(node, f"{module}.{node.attr} is not there in a workflow", remedy)
        elif node.attr in _CLOCKS and _last_name(node.value) in {"datetime", "date"}:
            remedy = "pass the time in as an argument of the run"
            yield problem_at(node, f"`{node.attr}` reads the clock", remedy)


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in MODULES and "." not in alias.name:
                    yield alias.asname or alias.name, alias.name


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""
