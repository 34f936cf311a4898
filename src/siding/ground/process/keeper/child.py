"""A started command, as the loop that watches over it sees it."""

import os
from typing import Protocol


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
