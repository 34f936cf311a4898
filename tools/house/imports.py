"""The arrows between the modules of a package: which of them needs which, and how."""

import ast
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from tools.house.source import Module, Package


class Kind(StrEnum):
    """How a module needs another one."""

    TOP = "top"  # a statement that is executed when the module is loaded
    INSIDE = "inside"  # a statement in a function: loaded when the function is called
    TYPES = "types"  # below `if TYPE_CHECKING`: never loaded
    STRING = "string"  # a text names the module, and the program imports what the text says
    PROGRAM = "program"  # the module is started as a process of its own
    VERBS = "verbs"  # an entry in the table of all verbs


class Arrow(NamedTuple):
    """`source` needs `target`; both are names of modules."""

    source: str
    target: str
    kind: Kind
    line: int


def imports_of(package: Package, module: Module) -> Iterator[Arrow]:
    """Yield an arrow for each import statement that reaches a module of the package."""
    for node, kind in _statements(module.tree.body, Kind.TOP):
        for target in _targets(package, module, node):
            yield Arrow(module.name, target, kind, node.lineno)


def _statements(
    body: Iterable[ast.AST], kind: Kind
) -> Iterator[tuple[ast.Import | ast.ImportFrom, Kind]]:
    """Yield each import statement in a body, and in the bodies within it, with its kind."""
    for each in body:
        if isinstance(each, ast.Import | ast.ImportFrom):
            yield each, kind
            continue
        inner = kind
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = Kind.TYPES if kind is Kind.TYPES else Kind.INSIDE
        elif isinstance(each, ast.If) and _asks_for_types(each.test):
            inner = Kind.TYPES
        yield from _statements(getattr(each, "body", ()), inner)
        for field in ("orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(each, field, ()), kind)


def _asks_for_types(test: ast.expr) -> bool:
    name = test.id if isinstance(test, ast.Name) else getattr(test, "attr", "")
    return name == "TYPE_CHECKING"


def _targets(package: Package, module: Module, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _known(package, module, alias.name)
        return
    base = node.module or ""
    if node.level:
        around = module.package.split(".")
        base = ".".join([*around[: len(around) - node.level + 1], *filter(None, [base])])
    for alias in node.names:
        inner = f"{base}.{alias.name}"
        yield from [inner] if inner in package.modules else _known(package, module, base)


def _known(package: Package, module: Module, name: str) -> Iterator[str]:
    if name in package.modules:
        yield name
    # A program that is started by its path finds the files beside it without the package.
    beside = f"{module.package}.{name}"
    is_plain = "." not in name and name not in (package.name, *sys.stdlib_module_names)
    if is_plain and beside in package.modules:
        yield beside
