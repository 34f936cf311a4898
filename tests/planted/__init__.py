"""Mistakes that the gates put into Siding from outside, to prove that they catch each of them.

The product knows nothing of this. A gate that starts a victim gives it `environment(name)`: a
`PYTHONPATH` whose `sitecustomize` (in `site/`) calls `plant` before anything of Siding is loaded.
A gate that works in its own process calls `plant`, or `planted` to take the mistake out again.

A mistake replaces functions or methods by their names. The replacement is made directly after the
module that defines them is loaded, before another module can take a reference to the old one. A
name of a mistake that nobody knows, and a name in the product that is no longer there, raise: a
gate whose mistake was never made would prove nothing.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from .mistakes import MISTAKES, Replacement

VARIABLE = "PLANTED_MISTAKE"  # only `site/sitecustomize.py` reads it

Undo = list[tuple[Any, str, Any]]  # what was replaced where: owner, name, the old value


class NothingPlanted(Exception):
    """The mistake is unknown, or the product has nothing of the name that it replaces."""


def environment(name: str) -> Mapping[str, str]:
    """Return what a child's environment needs to have the mistake; nothing for no name."""
    if not name:
        return {}
    _replacements(name)
    return {"PYTHONPATH": str(Path(__file__).with_name("site")), VARIABLE: name}


def plant(name: str) -> Undo:
    """Make the mistake in this process: now, and in each module as soon as it is loaded."""
    undo: Undo = []
    waiting: dict[str, list[Replacement]] = {}
    for replacement in _replacements(name):
        module = sys.modules.get(replacement.module)
        if module is None:
            waiting.setdefault(replacement.module, []).append(replacement)
        else:
            undo += _replace(module, replacement)
    if waiting:
        sys.meta_path.insert(0, _AfterImport(waiting))
    return undo


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Make the mistake in this process for the block; what it replaces must be loaded."""
    missing = [each.module for each in _replacements(name) if each.module not in sys.modules]
    if missing:
        raise NothingPlanted(f"{name!r} needs modules that are not loaded: {missing}")
    undo = plant(name)
    try:
        yield
    finally:
        for owner, attribute, old in reversed(undo):
            setattr(owner, attribute, old)


def plant_in_child() -> None:
    """Make the mistake that the environment names; end the process if that cannot be done."""
    import atexit

    name = os.environ[VARIABLE]
    try:
        plant(name)
    except NothingPlanted as error:
        _end(error)
    atexit.register(_require_planted, name)


def _replacements(name: str) -> tuple[Replacement, ...]:
    try:
        return MISTAKES[name]
    except KeyError:
        raise NothingPlanted(f"no mistake {name!r}; known are {sorted(MISTAKES)}") from None


def _replace(module: ModuleType, replacement: Replacement) -> Undo:
    """Replace one function or method, also where other modules already refer to it."""
    owner: Any = module
    *above, attribute = replacement.name.split(".")
    for part in above:
        owner = vars(owner).get(part)
        if owner is None:
            break
    old = None if owner is None else vars(owner).get(attribute)
    if old is None:
        raise NothingPlanted(f"{replacement.module} has no {replacement.name}")
    new = replacement.make(old)
    undo: Undo = [(owner, attribute, old)]
    if owner is module:
        undo += [
            (each, name, old)
            for each in _siding_modules()
            if each is not module
            for name, value in vars(each).items()
            if value is old
        ]
    for where, name, _old in undo:
        setattr(where, name, new)
    return undo


def _siding_modules() -> list[ModuleType]:
    return [module for name, module in list(sys.modules.items()) if name.startswith("siding")]


class _AfterImport:
    """A finder that lets a module be loaded as always and then replaces what it is told to."""

    def __init__(self, waiting: dict[str, list[Replacement]]) -> None:
        self._waiting = waiting

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        replacements = self._waiting.get(fullname)
        spec = None if replacements is None else PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None or replacements is None:
            return None
        load = spec.loader.exec_module

        def load_and_replace(module: ModuleType) -> None:
            load(module)
            for replacement in self._waiting.pop(fullname):
                try:
                    _replace(module, replacement)
                except NothingPlanted as error:
                    _end(error)

        spec.loader.exec_module = load_and_replace  # type: ignore[method-assign] # of this one loader
        return spec


def _require_planted(name: str) -> None:
    """At the end of a child: one that ran Siding without what the mistake replaces is no victim."""
    if "siding" not in sys.modules:
        return  # a command that Siding ran inherits the environment
    if not any(each.module in sys.modules for each in MISTAKES[name]):
        _end(NothingPlanted(f"{name!r} replaced nothing: none of its modules was loaded"))


def _end(error: NothingPlanted) -> None:
    """End this process now: no handler of the product may hide it."""
    sys.stdout.flush()
    os.write(2, f"tests/planted: {error}\n".encode())
    os._exit(97)
