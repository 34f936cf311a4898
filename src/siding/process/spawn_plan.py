"""What starting a command inside a sandbox asks of the start. Values only."""

from collections.abc import Callable
from typing import NamedTuple

from siding.process.command import Command
from siding.process.lookup import Program

Enter = Callable[[], None]


class SpawnPlan(NamedTuple):
    """``command`` and ``program`` are what is started in the command's place. ``enter`` is called
    in the child right before it becomes that. ``keep`` are descriptors that it keeps.
    ``takes_terminal``: the command inside takes the terminal, so the child must not.
    """

    command: Command
    program: Program
    enter: Enter | None
    keep: tuple[int, ...]
    takes_terminal: bool
