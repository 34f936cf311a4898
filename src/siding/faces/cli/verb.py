"""A verb that shares its module with others of its noun. A daily one has a module of its own."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from siding.faces.cli.globals import Context


class Verb:
    """A verb that shares a module with others. It has the names that `main` takes from a module."""

    def __init__(
        self,
        about: str,
        add_arguments: Callable[[ArgumentParser], None],
        run: Callable[[Namespace, Context], int],
        *,
        mixed: bool = False,
    ) -> None:
        self.__doc__ = about
        self.add_arguments = add_arguments
        self.run = run
        self.MIXED = mixed  # see `is_mixed`
