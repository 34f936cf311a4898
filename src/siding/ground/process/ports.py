"""What the loop of a run needs of others: a started command, a sandbox, who looks at it or pauses.

Most of it is for type checkers alone; `Forked` is a command on systems that have no keepers.
"""

import os
from typing import Protocol

from siding.ground.process.command import Command, SpawnPlan
from siding.ground.process.limits import KernelLimits
from siding.ground.process.lookup import Program


class Child(Protocol):
    """A started command. `pid` is its process number; `keeper` that of its parent, 0 for us."""

    @property
    def pid(self) -> int: ...

    @property
    def keeper(self) -> int: ...

    @property
    def lost_keeper(self) -> bool:
        """Whether the keeper was killed. What was below it is below us then."""
        ...

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when `poll` has news; -1: SIGCHLD tells."""
        ...

    def poll(self) -> int | None:
        """Return the exit status, -N for signal N; None while the command runs."""
        ...

    def stopped(self) -> int:
        """Return the signal that has stopped the command since the last call; 0 for none."""
        ...

    def is_alone(self) -> bool | None:
        """Tell whether nothing that the command started is left; None if that has to be looked
        up."""
        ...

    def kill_all(self) -> None:
        """Kill everything that the command started, as far as the keeper can reach it."""
        ...

    def leave(self) -> None:
        """Let go of the command after its end; what it left running becomes our child."""
        ...


class Forked:
    """A command that is our own child."""

    keeper = 0
    lost_keeper = False

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None

    def fileno(self) -> int:
        return -1

    def poll(self) -> int | None:
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status

    def stopped(self) -> int:
        return 0

    def is_alone(self) -> bool | None:
        return None

    def kill_all(self) -> None:
        pass

    def leave(self) -> None:
        pass


class Sandboxed(Protocol):
    """One sandboxed command. Who made it closes it when the command has ended."""

    warden: int  # the pid of the process whose end ends everything inside; 0 if there is none

    @property
    def group(self) -> KernelLimits | None:
        """What the kernel holds the command to."""

    @property
    def guarded(self) -> bool:
        """Whether our child is a warden, and the command is a child of that."""

    @property
    def told(self) -> tuple[int, ...]:
        """Descriptors that have to stay open as long as the command runs."""

    def spawn_plan(self, command: Command, program: Program, *, tty: bool) -> SpawnPlan:
        """Return the program to start in place of the command. Raises OSError."""

    def started(self) -> None:
        """Take note that the command was started."""

    def command_group(self) -> int | None:
        """Return the process group of the command inside; None when it has ended."""

    def was_started(self) -> bool:
        """Return whether the command itself ran, when it has ended."""

    def is_outdated(self) -> bool:
        """Return whether the sandbox failed because of something that is gone by now."""


class Pause(Protocol):
    """A pause of the run's processes by another command."""

    def is_there(self) -> bool: ...

    def end_if_left_behind(self) -> None:
        """Let the processes go on if the command that stopped them was killed."""
        ...


class Looks(Protocol):
    """Something that looks at the run from time to time while its command lives.

    `pause` returns the seconds until `look` has something to do, `output` is told that the command
    printed something, and `finish` that it has ended.
    """

    def pause(self, now: float) -> float: ...

    def output(self, now: float) -> None: ...

    def look(self, now: float) -> None: ...

    def finish(self) -> None: ...
