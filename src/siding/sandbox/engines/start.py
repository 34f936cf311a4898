"""Start a command inside a sandbox.

What is started in its place, and what the forked child does before, is the engine's (`bwrap.py`,
`landlock.py`).
"""

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack

from siding.ground.process.command import Command, Enter, ProcessStatus, SpawnPlan
from siding.ground.process.lookup import Program
from siding.sandbox.engines.cgroup import RunGroup
from siding.sandbox.engines.table import engine_of
from siding.sandbox.engines.values import Launch

if sys.platform == "linux":
    from siding.ground.process import procfs as processes
else:
    from siding.ground.process import ps as processes

_STATUS_BYTES = 1 << 16


class Sandboxed:
    """One sandboxed command.

    Start it with `spawn_plan`, call `started`, and call `close` when the command has ended.
    """

    def __init__(self, launch: Launch, group: RunGroup | None = None) -> None:
        """Prepare it; `group` is the control group that it enters, which `close` closes."""
        self.launch = launch
        self.group = group
        self.warden = 0  # bwrap's pid, set by the caller; its end ends everything inside
        self._stack = ExitStack()
        self._status_fd = -1
        self._told: bool | None = None
        self._is_outdated: Callable[[], bool] = lambda: False

    @property
    def guarded(self) -> bool:
        """Whether our child is a warden, such as bwrap, and the command its grandchild."""
        return engine_of(self.launch.engine).is_warden

    def spawn_plan(self, command: Command, program: Program, *, tty: bool) -> SpawnPlan:
        """Return the program to start in place of the command. Raises OSError."""
        plan = self._spawn_plan(command, program, tty=tty)
        return plan if self.group is None else plan._replace(enter=_both(self.group, plan.enter))

    def _spawn_plan(self, command: Command, program: Program, *, tty: bool) -> SpawnPlan:
        command = command._replace(env={**command.env, **dict(self.launch.env)})
        planned = engine_of(self.launch.engine).plan(
            self.launch, command, program, tty=tty, hold=self._held
        )
        self._told, self._status_fd = None, planned.told
        self._is_outdated = planned.is_outdated
        return planned.spawn

    def command_group(self) -> int | None:
        """Return the process group of the command inside; None when it has ended."""
        everything = processes.all_processes().values()
        inits = {status.pid for status in everything if status.parent == self.warden}
        inside = [status for status in everything if status.parent in inits]
        return min(inside, key=_age).group if inside else None

    @property
    def told(self) -> tuple[int, ...]:
        """The descriptor at which bwrap says how the command ended; without a reader it dies."""
        return (self._status_fd,) if self._status_fd >= 0 else ()

    def was_started(self) -> bool:
        """Return whether the command itself ran; False when bwrap failed before.

        Call this after the command has ended.
        """
        if self._told is None and self._status_fd >= 0:
            try:
                self._told = b'"exit-code"' in os.read(self._status_fd, _STATUS_BYTES)
            except BlockingIOError:
                self._told = False
        return self._told is not False

    def is_outdated(self) -> bool:
        """Return whether something that bwrap was told to mask is gone, so that it failed.

        Another attempt leaves it out.
        """
        return self._is_outdated()

    def started(self) -> None:
        """Close the descriptors that were made for the child; it has its own copies now."""
        kept, self._stack = self._stack, ExitStack()
        kept.close()
        if self._status_fd >= 0:
            self._stack.callback(os.close, self._status_fd)

    def close(self) -> None:
        self._stack.close()
        if self.group is not None:
            self.group.close()

    def _held(self, fd: int) -> int:
        self._stack.callback(os.close, fd)
        return fd


def _both(group: RunGroup, enter: Enter | None) -> Enter:
    """Return a function that enters the group, and then does what the sandbox needs."""

    def enter_both() -> None:
        group.enter()  # first: the sandbox closes the way there
        if enter is not None:
            enter()

    return enter_both


def _age(status: ProcessStatus) -> int:
    return status.started
