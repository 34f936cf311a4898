"""What a run needs of the sandbox that its command is started in, whichever sandbox that is."""

from typing import Protocol

from siding.ground.process.command import Command
from siding.ground.process.limits import KernelLimits
from siding.ground.process.lookup import Program
from siding.ground.process.spawn_plan import SpawnPlan


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
