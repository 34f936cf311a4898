"""Find everything in a script that could make it depend on more than its arguments and calls.

Each problem names its line and what to write instead. Problems that only show when the script runs
(a clock behind a variable) are errors of the child's modules. Agents that write beside each other
in one workspace are warned of.
"""

import ast
from collections.abc import Iterator

from siding.workflows.allowed import (
    MODULE_REMEDIES,
    MODULES,
    ONLY,
    REFUSED_NAMES,
    is_given,
    refused_attribute,
)
from siding.workflows.checking.names import (
    foreign_private_attributes,
    problems_with_names,
    uses_of_modules,
    uses_of_super,
)
from siding.workflows.child.body import FORMATS, is_future, is_main
from siding.workflows.errors import Problem, problem_at

_AT_ONCE = {"parallel", "pipeline", "gather"}
_READING = {"read", "grep", "glob", "ls", "webfetch", "websearch"}


def unisolated_writers(tree: ast.Module) -> Iterator[Problem]:
    """Yield a warning for each `agent` that may write while others do, without an isolation.

    Which agents only read nobody can tell from the script: those with an `isolation`, or with
    `allowed_tools` that are known to read only, are left out.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _name(node.func) not in _AT_ONCE:
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call) and _name(inner.func) == "agent" and _may_write(inner):
                yield problem_at(
                    inner,
                    f"agents of {_name(node.func)}() share one workspace while they work",
                    'give them isolation="worktree", "turn" or "read" if they may write',
                    is_warning=True,
                )


def _may_write(call: ast.Call) -> bool:
    for keyword in call.keywords:
        if keyword.arg == "isolation" or keyword.arg is None:
            return False
        if keyword.arg == "allowed_tools":
            try:
                tools = ast.literal_eval(keyword.value)
            except ValueError:
                return False
            return not all(isinstance(tool, str) and tool.lower() in _READING for tool in tools)
    return True


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def problems_of(tree: ast.Module) -> list[Problem]:
    """Return the problems of a script, in the order of its lines."""
    found: list[Problem] = []
    for node in ast.walk(tree):
        found.extend(_of(node))
        found.extend(problems_with_names(node))
    found.extend(_of_main(tree))
    found.extend(foreign_private_attributes(tree))
    found.extend(uses_of_super(tree))
    found.extend(uses_of_modules(tree))
    found.extend(unisolated_writers(tree))
    return sorted(set(found))


def _of(node: ast.AST) -> Iterator[Problem]:
    match node:
        case ast.Import():
            for alias in node.names:
                yield from _imported(node, alias.name)
        case ast.ImportFrom():
            yield from _imported_from(node)
        case ast.Attribute() if refused_attribute(node.attr):
            yield problem_at(node, f"the attribute {node.attr!r}", REFUSED_NAMES["vars"])
        case ast.MatchClass():
            for name in node.kwd_attrs:
                if refused_attribute(name):
                    yield problem_at(node, f"the attribute {name!r}", REFUSED_NAMES["vars"])
        case ast.ExceptHandler(type=None):
            yield problem_at(node, "`except:` without a class", "write `except Exception:`")
        case ast.Global():
            yield problem_at(node, "`global`", "a script's top level is a function: use `nonlocal`")
        case ast.Attribute(value=ast.Constant(value=str() as text)) if (
            node.attr in FORMATS and ".__" in text
        ):
            yield problem_at(node, "a format that reads '__' attributes", REFUSED_NAMES["vars"])
        case _:
            pass


def _imported(node: ast.stmt, name: str) -> Iterator[Problem]:
    if name in MODULES:
        return
    outer = name.partition(".")[0]
    remedy = MODULE_REMEDIES.get(outer, f"a workflow can import {', '.join(sorted(MODULES))}")
    yield problem_at(node, f"cannot import {name!r}", remedy)


def _imported_from(node: ast.ImportFrom) -> Iterator[Problem]:
    if node.level:
        yield problem_at(node, "an import from beside the script", "write all of it into one file")
        return
    if is_future(node):
        return
    module = node.module or ""
    yield from _imported(node, module)
    for alias in node.names:
        if module in MODULES and alias.name != "*" and not is_given(module, alias.name):
            has = ", ".join(sorted(ONLY.get(module, ())))
            remedy = f"{module} has here: {has}" if has else REFUSED_NAMES["vars"]
            yield problem_at(node, f"{module}.{alias.name} is not there in a workflow", remedy)
        if alias.name == "*":
            yield problem_at(node, "`import *`", "name what you import")


def _of_main(tree: ast.Module) -> Iterator[Problem]:
    main = next((one for one in tree.body if is_main(one)), None)
    if main is None:
        return
    assert isinstance(main, ast.AsyncFunctionDef)
    taken = len(main.args.args) + len(main.args.posonlyargs)
    if taken != 1 and main.args.vararg is None:
        yield problem_at(main, f"main() takes {taken} arguments", "write `async def main(args):`")
    for statement in tree.body:
        for node in _outside_functions(statement):
            if isinstance(node, ast.Return | ast.Await):
                yield problem_at(
                    node, "await or return beside main()", "put it into main(), or leave main() out"
                )


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _outside_functions(child)
