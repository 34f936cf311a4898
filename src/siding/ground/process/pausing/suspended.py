"""Everything that a run started, stopped because the person pressed Ctrl-Z."""

from contextlib import suppress
from types import TracebackType
from typing import Self

from siding.ground.process.pausing.pauser import CannotPause, Mark, Pauser, Trees
from siding.ground.process.tree import ProcessTree


class Suspended:
    """Stops a tree of processes for the length of a block, as far as that is possible.

    If we are killed meanwhile, the keeper ends them, stopped or not.
    """

    def __init__(self, tree: ProcessTree) -> None:
        self._pauser = Pauser(_all_of(tree), note=_unnoted)

    def __enter__(self) -> Self:
        with suppress(CannotPause):
            self._pauser.pause()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pauser.go_on()


def _all_of(tree: ProcessTree) -> Trees:
    command, keeper = tree.tops()
    return Trees(
        spared=(),
        above=() if keeper is None else (Mark(keeper.pid, keeper.started),),
        commands=() if command is None else (Mark(command.pid, command.started),),
        tokens=(tree.token,),
    )


def _unnoted(_mark: Mark) -> None:
    """Keep no record of it."""
