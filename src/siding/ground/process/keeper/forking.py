"""The host's side of a keeper: fork it, hear how the command ends, and let it go.

What the keeper does is in `program`. If the keeper is killed, what is below it becomes our
child (`procfs.adopting_orphans`), and the run goes on without one.
"""

import fcntl
import os
import signal
import sys
import termios
from collections.abc import Callable
from typing import NoReturn

from siding.ground.process.descriptors import (
    LAST_STANDARD,
    above_standard,
    close_all_but,
    pipe_above_standard,
)
from siding.ground.process.keeper import program

if sys.platform == "linux":
    from siding.ground.process.procfs import become_subreaper


def can_keep() -> bool:
    """Tell whether this system has what a keeper needs: pidfds and subreapers.

    They are tried: a container may forbid them.
    """
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


class Kept:
    """A command whose parent is a keeper."""

    def __init__(self, pid: int, keeper: int, told: int, orders: int) -> None:
        self.pid = pid
        self.keeper = keeper
        self.lost_keeper = False
        self._told = told
        self._orders = orders
        self._status: int | None = None
        self._stopped = 0
        self._alone = False
        self._rest = b""
        os.set_blocking(told, False)

    def fileno(self) -> int:
        return self._told

    def poll(self) -> int | None:
        self._listen()
        if self._status is None and self.lost_keeper:
            self._look_ourselves()
        return self._status

    def stopped(self) -> int:
        number, self._stopped = self._stopped, 0
        return number

    def is_alone(self) -> bool | None:
        self._listen()
        return None if self.lost_keeper else self._alone

    def kill_all(self) -> None:
        self._order(b"k")

    def leave(self) -> None:
        if self._orders < 0:
            return
        self._listen()  # it may have been killed
        self._order(b"l")
        os.close(self._orders)
        self._orders = -1
        if self._told >= 0:
            self._bury()

    def _listen(self) -> None:
        """Read what the keeper told."""
        while self._told >= 0:
            try:
                data = os.read(self._told, 4096)
            except BlockingIOError:
                return
            if not data:
                self._bury()
                return
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._hear(line)

    def _bury(self) -> None:
        """The keeper has closed its pipe, because it has ended."""
        os.close(self._told)
        self._told = -1
        self.lost_keeper = not self._alone and self._orders >= 0
        os.waitpid(self.keeper, 0)
        self.keeper = 0

    def _hear(self, line: bytes) -> None:
        what, number = line[:1], line[2:]
        if what == b"e":
            self._status = os.waitstatus_to_exitcode(int(number))
        elif what == b"s":
            self._stopped = int(number)
        elif what == b"n":
            self._alone = True

    def _look_ourselves(self) -> None:
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:  # it ended together with its keeper
            self._status = -signal.SIGKILL
            return
        if pid:
            self._status = os.waitstatus_to_exitcode(status)

    def _order(self, order: bytes) -> None:
        try:
            os.write(self._orders, order)
        except OSError:
            pass  # the keeper has ended


def fork_kept(
    become: Callable[[], NoReturn],
    *,
    failed: int,
    terminal: int,
    guarded: bool,
    survives: tuple[int, ...] = (),
) -> "Kept | None":
    """Fork a keeper that forks the command; `become` runs in the command's process.

    The caller closes its own end of the pipe `failed`, to which an errno is written if the command
    cannot be started, and learns from its other end how that went. `terminal` is the command's
    terminal, of which the keeper leads the session; -1 without one. `survives` is what `program`
    takes for a run that survives its host. Returns None if the keeper ended before it had started
    anything.
    """
    host = above_standard(os.pidfd_open(os.getpid()))
    told, telling = pipe_above_standard()
    ordered, orders = pipe_above_standard()
    try:
        keeper = os.fork()
        if keeper == 0:
            ends = (host, telling, ordered, terminal)
            _keep(become, ends, failed=failed, guarded=guarded, survives=survives)
    finally:
        for fd in (host, telling, ordered):
            os.close(fd)
    pid = _started(told)
    if pid is None:
        os.waitpid(keeper, 0)
        os.close(told)
        os.close(orders)
        return None
    return Kept(pid, keeper, told, orders)


def _started(told: int) -> int | None:
    """Wait for the first line of the keeper: the pid of the command."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(told, 1)
        if not byte:
            return None
        line += byte
    return int(line[2:])


def _keep(
    become: Callable[[], NoReturn],
    ends: tuple[int, int, int, int],
    *,
    failed: int,
    guarded: bool,
    survives: tuple[int, ...],
) -> NoReturn:
    """In the keeper: start the command, let go of everything else, and do the keeper's work."""
    host, telling, ordered, terminal = ends
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        become_subreaper()
        if terminal >= 0:
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        pid = os.fork()
        if pid == 0:
            become()
        os.write(telling, b"p %d\n" % pid)
        _let_go((*ends, *survives[:1], *survives[2:]))
        keeper = program.Keeper(host, telling, ordered, terminal, pid, guarded, survives)
        program.keep(keeper)
    except OSError as error:
        os.write(failed, str(error.errno).encode())
    finally:
        os._exit(0)


def _let_go(kept: tuple[int, ...]) -> None:
    """Close what the keeper does not need: a lock of ours, say, that it would go on holding."""
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(LAST_STANDARD + 1):
        os.dup2(nothing, number)
    close_all_but(kept)
