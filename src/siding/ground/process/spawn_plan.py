"""How to start a command inside a sandbox. Values only."""

from collections.abc import Callable

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Command
from siding.ground.process.lookup import Program

Enter = Callable[[], None]


class SpawnPlan(NamedTuple):
    """The program to start so that the user's command runs in a sandbox.

    ``command`` and ``program`` are started in place of the user's (bwrap, say). The child calls
    ``enter`` right before exec, and keeps the descriptors ``keep`` open. With ``takes_terminal``
    the command inside takes the terminal as its own, so the child must not do so. ``is_warden``:
    what is started is the warden, whose end ends everything inside.
    """

    command: Command
    program: Program
    enter: Enter | None
    keep: tuple[int, ...]
    takes_terminal: bool
    is_warden: bool = False
