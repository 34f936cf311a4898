"""How to start a command: inside a sandbox, and so that it survives us. Values only."""

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


class Survival(NamedTuple):
    """What the keeper of a run holds that survives its host.

    `locks` are the descriptors of those by which others see that the run lives; to `fate` it writes
    how the command ended.
    """

    locks: tuple[int, ...]
    fate: int
