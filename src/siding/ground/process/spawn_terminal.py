"""Start the user's command in a terminal of its own; `spawn.py` does the rest of it."""

import os
import signal
import termios
from typing import TYPE_CHECKING, Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Command, SpawnPlan, Survival, WindowSize
from siding.ground.process.keeper.forking import can_keep
from siding.ground.process.lookup import Program
from siding.ground.process.spawn import fork_exec, surviving, take, take_pipes
from siding.ground.process.terminal import set_window_size

if TYPE_CHECKING:
    from siding.ground.process.ports import Child


class InTerminal(NamedTuple):
    """A command in a terminal: ``master`` is our end of it, ``slave`` the command's."""

    child: "Child"
    master: int
    slave: int


def spawn_in_terminal(
    command: Command,
    program: Program,
    *,
    size: WindowSize,
    like: list[Any] | None,
    plan: SpawnPlan | None = None,
    survival: Survival | None = None,
) -> InTerminal:
    """Start the command in a new terminal of this size.

    ``like`` are its first settings, from `terminal.attributes`. Raises OSError with the errno that
    exec gave.
    """
    master, slave = os.openpty()
    try:
        set_window_size(slave, size)
        if like is not None:
            termios.tcsetattr(slave, termios.TCSANOW, like)

        def connect() -> None:
            if inside:
                take_pipes(slave, slave, slave)
            elif can_keep():
                _take_terminal(slave)
            else:
                os.login_tty(slave)

        inside = plan is not None and plan.takes_terminal
        keep = -1 if inside else slave
        survives = surviving(survival, (master,))
        child = fork_exec(command, program, connect, plan, keep=keep, survives=survives)
        os.set_blocking(master, False)
    except BaseException:
        os.close(master)
        os.close(slave)
        raise
    return InTerminal(child=child, master=master, slave=slave)


def _take_terminal(slave: int) -> None:
    """In the child of a keeper that leads the session of this terminal: be its foreground.

    The command is in a group of its own, with a parent in another group of the session. Otherwise
    the group would be orphaned, and the kernel would ignore Ctrl-Z.
    """
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # we are not in the foreground yet
    os.tcsetpgrp(slave, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    take(slave, slave, slave)
