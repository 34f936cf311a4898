"""The table of all verbs, read without importing it: which module has the code of each."""

import ast
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tools.house.source import Module, Package

_TABLES = ("VERBS", "GROUPS", "BELOW", "HIDDEN")


class Verb(NamedTuple):
    """Where the code of a verb is. `attribute` is "" if the module itself is the verb."""

    module: str
    attribute: str
    line: int


class Verbs(NamedTuple):
    """The verbs by their words, and the module that lists them."""

    table: str
    by_words: Mapping[str, Verb]


def verbs_of(package: Package) -> Verbs:
    """Return the verbs of a package; none if no module of it has such a table."""
    for module in package.modules.values():
        # Most modules need not be parsed to see that they have none.
        if all(f"\n{name}" in module.text for name in _TABLES) and set(_TABLES) <= module.bound:
            return Verbs(module.name, dict(_verbs(package, module)))
    return Verbs("", {})


def _verbs(package: Package, module: Module) -> Iterator[tuple[str, Verb]]:
    for node in module.tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        if isinstance(target, ast.Name) and target.id in _TABLES:
            for words, place in _places(ast.literal_eval(node.value)):
                name, _, attribute = place.partition(":")
                inside = name.startswith(f"{package.name}.")
                full = name if inside else f"{module.package}.{name}"
                yield words, Verb(full, attribute, node.lineno)


def _places(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the words of each verb with its place: ``verb: (place, help)``, or with verbs below."""
    for word, found in table.items():
        below = found if isinstance(found, dict) else found[1]
        if isinstance(below, dict):
            yield from ((f"{word} {inner}", place) for inner, (place, _) in below.items())
        else:
            yield word, found[0]
