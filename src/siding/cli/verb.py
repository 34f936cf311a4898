"""A verb that shares its module with others of its kind; most are a module of their own."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

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
