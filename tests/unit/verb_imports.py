"""What a verb imports when it is carried out, read from the source of its module."""

import ast
from collections.abc import Iterator, Mapping
from importlib import import_module
from inspect import getsource

from siding.faces.cli.table import BELOW, GROUPS, HIDDEN, VERBS, module_of


def places() -> list[str]:
    """Return the place of each verb in the table."""
    groups = [VERBS, HIDDEN, *BELOW.values(), *(members for _about, members in GROUPS.values())]
    return [place for group in groups for place, _about in group.values()]


def imports_of(words: str) -> set[str]:
    """Return the modules of ours that the functions of a verb (``task list``) import.

    They are the function that carries it out, and those of its module that this one names.
    """
    first, _, second = words.partition(" ")
    if second:
        place = (GROUPS[first][1] if first in GROUPS else BELOW[first])[second][0]
    else:
        place = VERBS[first][0]
    tree = ast.parse(getsource(import_module(module_of(place))))
    by_name = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    begin = by_name["run"] if ":" not in place else _verb(tree, place.partition(":")[2])
    return {
        node.module
        for function in _reached(begin, by_name)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("siding.")
    }


def _verb(tree: ast.Module, name: str) -> ast.AST:
    """Return what is assigned to a name: ``LIST = Verb(…)``."""
    return next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name
    )


def _reached(begin: ast.AST, by_name: Mapping[str, ast.FunctionDef]) -> Iterator[ast.AST]:
    seen: set[ast.AST] = set()
    waiting = [begin]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        names = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
        waiting.extend(by_name[name] for name in names if name in by_name)
