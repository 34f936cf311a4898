"""Find the code of a verb: most verbs have a module of their own, similar ones share a module."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from importlib import import_module
from typing import Any

from siding.cli.globals import Context


class Verb:
    """A verb that shares a module with others. It has the names that `main` takes from a module."""

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

    `place` is a module below `siding.cli`, or one that begins with `siding.`. ``:NAME`` at its end
    means a name in that module.
    """
    module, _, name = place.partition(":")
    found = import_module(module if module.startswith("siding.") else f"siding.cli.{module}")
    return getattr(found, name) if name else found
