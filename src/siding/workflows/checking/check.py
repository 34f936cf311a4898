"""Find everything in a script that could make it depend on more than its arguments and calls.

Each problem names its line and what to write instead. Problems that only show when the script runs
(a clock behind a variable) are errors of the child's modules.
"""

import ast
import builtins
from collections.abc import Iterator

from siding.workflows.allowed import (
    INJECTED,
    MODULE_REMEDIES,
    MODULES,
    REFUSED_NAMES,
    refused_attribute,
)
from siding.workflows.checking.writers import unisolated_writers
from siding.workflows.child.body import is_main
from siding.workflows.problems import Problem

_PUBLIC = frozenset(vars(builtins))


def problems_of(tree: ast.Module) -> list[Problem]:
    """Return the problems of a script, in the order of its lines."""
    found: list[Problem] = []
    for node in ast.walk(tree):
        found.extend(_of(node))
    found.extend(_of_main(tree))
    found.extend(unisolated_writers(tree))
    return sorted(set(found))


def _of(node: ast.AST) -> Iterator[Problem]:
    match node:
        case ast.Import():
            for alias in node.names:
                yield from _imported(node, alias.name)
        case ast.ImportFrom():
            yield from _imported_from(node)
        case ast.Name():
            yield from _named(node)
        case ast.Attribute() if refused_attribute(node.attr):
            yield _problem(node, f"the attribute {node.attr!r}", REFUSED_NAMES["vars"])
        case ast.ExceptHandler(type=None):
            yield _problem(node, "`except:` without a class", "write `except Exception:`")
        case ast.Global():
            yield _problem(node, "`global`", "a script's top level is a function: use `nonlocal`")
        case ast.Constant(value=str() as text) if "{" in text and ".__" in text:
            yield _problem(node, "a format that reads '__' attributes", REFUSED_NAMES["vars"])
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            if node.name in INJECTED:
                yield _problem(node, f"{node.name!r} is a name of workflows", "choose another name")
        case _:
            pass


def _named(node: ast.Name) -> Iterator[Problem]:
    if node.id in REFUSED_NAMES and isinstance(node.ctx, ast.Load):
        yield _problem(node, f"{node.id!r} is not there in a workflow", REFUSED_NAMES[node.id])
    elif node.id in INJECTED and not isinstance(node.ctx, ast.Load):
        yield _problem(
            node, f"{node.id!r} is a name of workflows and cannot be set", "choose another name"
        )
    elif node.id.startswith("__") and node.id not in _PUBLIC and node.id.endswith("__"):
        yield _problem(node, f"the name {node.id!r}", REFUSED_NAMES["vars"])


def _imported(node: ast.stmt, name: str) -> Iterator[Problem]:
    if name in MODULES:
        return
    outer = name.partition(".")[0]
    remedy = MODULE_REMEDIES.get(outer, f"a workflow can import {', '.join(sorted(MODULES))}")
    yield _problem(node, f"cannot import {name!r}", remedy)


def _imported_from(node: ast.ImportFrom) -> Iterator[Problem]:
    if node.level:
        yield _problem(node, "an import from beside the script", "write all of it into one file")
        return
    module = node.module or ""
    yield from _imported(node, module)
    for alias in node.names:
        if alias.name in MODULES.get(module, frozenset()):
            yield _problem(
                node, f"{module}.{alias.name} is not there in a workflow", REFUSED_NAMES["vars"]
            )
        if alias.name == "*":
            yield _problem(node, "`import *`", "name what you import")


def _of_main(tree: ast.Module) -> Iterator[Problem]:
    main = next((one for one in tree.body if is_main(one)), None)
    if main is None:
        return
    assert isinstance(main, ast.AsyncFunctionDef)
    taken = len(main.args.args) + len(main.args.posonlyargs)
    if taken != 1 and main.args.vararg is None:
        yield _problem(main, f"main() takes {taken} arguments", "write `async def main(args):`")
    for statement in tree.body:
        for node in _outside_functions(statement):
            if isinstance(node, ast.Return | ast.Await):
                yield _problem(
                    node, "await or return beside main()", "put it into main(), or leave main() out"
                )


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _outside_functions(child)


def _problem(node: ast.AST, what: str, remedy: str) -> Problem:
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    return Problem(line=line, column=column + 1, what=what, remedy=remedy)
