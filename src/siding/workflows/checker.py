"""Find everything in a script that could make it depend on more than its arguments and calls.

Each problem names its line and what to write instead. Problems that only show when the script runs
(a clock behind a variable) are errors of the child's modules. Names are refused that are Python's
own, that begin with an underscore and are not of the script's making, or that a module or a
built-in function does not have here. Agents that write beside each other in one workspace are
warned of.
"""

import ast
from collections.abc import Iterator

from siding.ground.errors import counted
from siding.workflows.allowed import (
    DUNDER_METHODS,
    DUNDER_NAMES,
    INJECTED,
    MODULE_REMEDIES,
    MODULES,
    NAMEDTUPLE_ATTRIBUTES,
    ONLY,
    REFUSED_NAMES,
    is_dunder,
    is_given,
    refused_attribute,
)
from siding.workflows.child.body import FORMATS, is_future, is_main
from siding.workflows.errors import Problem, problem_at

_AT_ONCE = {"parallel", "pipeline", "gather"}
_READING = {"read", "grep", "glob", "ls", "webfetch", "websearch"}
_READABLE = frozenset({"__name__", "__debug__"})
_OTHER = "choose another name"
_CLOCKS = {"now", "utcnow", "today"}


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
        yield problem_at(
            main, f"main() takes {counted(taken, 'argument')}", "write `async def main(args):`"
        )
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


# -- Names that a script may not use, set, import or define ----------------------------------------


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


def foreign_private_attributes(tree: ast.Module) -> Iterator[Problem]:
    """Yield a problem for each use of a private attribute that nothing in the script defines."""
    own = _own_names(tree) | NAMEDTUPLE_ATTRIBUTES
    for node in ast.walk(tree):
        for name in _attributes(node):
            if name.startswith("_") and not is_dunder(name) and name not in own:
                remedy = "use what is public; a workflow needs only plain values"
                yield problem_at(node, f"the private attribute {name!r}", remedy)


def _attributes(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return [node.attr]
    return node.kwd_attrs if isinstance(node, ast.MatchClass) else []


def _own_names(tree: ast.Module) -> set[str]:
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
    modules = dict(_imports_under(tree))
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


def _imports_under(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in MODULES and "." not in alias.name:
                    yield alias.asname or alias.name, alias.name


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""
