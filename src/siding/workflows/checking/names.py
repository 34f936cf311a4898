"""Find names that a script may not use, set, import or define.

These are names of Python, attributes that begin with an underscore and are not of the script's own
making, and what a module or a built-in function does not have here.
"""

import ast
from collections.abc import Iterator

from siding.workflows.allowed import (
    DUNDER_METHODS,
    DUNDER_NAMES,
    INJECTED,
    MODULES,
    NAMEDTUPLE_ATTRIBUTES,
    ONLY,
    REFUSED_NAMES,
    is_dunder,
    is_given,
)
from siding.workflows.errors import Problem, problem_at

_READABLE = frozenset({"__name__", "__debug__"})
_OTHER = "choose another name"
_CLOCKS = {"now", "utcnow", "today"}


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
