"""Where a verb is: most are a module of their own, some share one with others of their kind."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from importlib import import_module
from typing import Any

from siding.cli.globals import Context


class Verb:
    """What `main` needs of a verb: the names that a module of its own would have."""

    def __init__(
        self,
        about: str,
        add_arguments: Callable[[ArgumentParser], None],
        run: Callable[[Namespace, Context], int],
    ) -> None:
        self.__doc__ = about
        self.add_arguments = add_arguments
        self.run = run


def load(place: str) -> Any:
    """Return the module of a verb, or the `Verb` in one: both have `add_arguments` and `run`.

    `place` is a module below `siding.cli`, or one that begins with `siding.`; with ``:NAME`` behind
    it, a name in that module.
    """
    module, _, name = place.partition(":")
    found = import_module(module if module.startswith("siding.") else f"siding.cli.{module}")
    return getattr(found, name) if name else found
