"""What is counted in the files themselves: sizes, parameters, names."""

import ast
import re
from collections import Counter
from collections.abc import Iterable

from tools.house.source import Module, Package

SMALL = 50  # lines


def folder_lines(package: Package, folders: Iterable[str]) -> int | None:
    """Return the lines below these folders of a package; None if none of them is there."""
    beginnings = tuple(f"{package.name}.{folder}" for folder in folders)
    names = frozenset(
        name
        for name in package.modules
        if any(name == each or name.startswith(f"{each}.") for each in beginnings)
    )
    return package.lines(names) if names else None


def parameters(package: Package, name: str) -> list[tuple[Module, int]]:
    """Return each parameter of this name, with its module and line."""
    return [
        (module, argument.lineno)
        for module in package.modules.values()
        for node in module.nodes
        if isinstance(node, ast.arguments)
        for argument in (*node.posonlyargs, *node.args, *node.kwonlyargs)
        if argument.arg == name
    ]


def folder_sizes(package: Package) -> list[tuple[str, int]]:
    """Return the folders with how many modules are directly in each, largest first."""
    sizes = Counter(module.path.parent for module in package.modules.values())
    above = package.folder.parent
    return [(folder.relative_to(above).as_posix(), size) for folder, size in sizes.most_common()]


def small(package: Package) -> list[Module]:
    """Return the modules of fewer than `SMALL` lines, without the files `__init__`."""
    modules = package.modules.values()
    return [each for each in modules if not each.is_package and each.lines < SMALL]


def named_by_verb(package: Package) -> list[Module]:
    """Return the modules whose name, or its last word, is a verb's form in -ing or -ed."""
    form = re.compile(
        r"(?:.*_)?(?!(?:thing|string|something|seed|feed|shed|speed|need)$)\w+(?:ing|ed)"
    )
    return [
        module
        for module in package.modules.values()
        if not module.is_package and form.fullmatch(module.name.rpartition(".")[2])
    ]
