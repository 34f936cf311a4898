"""What a keeper does: it is the parent of a run's command, and outlives the host of the run.

    host -> keeper -> command

The keeper waits for the command and for what the command leaves behind, and tells the host. When
the host is gone, it ends all of them. The host is watched by a pidfd: the other end of a pipe may
be inherited by any process that the host forks, and then never closes.

The keeper is forked from the host. After `_LIGHT_AFTER_S` it starts this file as a program, in an
interpreter that loads nothing else, because a fork keeps the memory of the host alive. So this
module imports built-in modules only, and nothing of Siding.

It tells the host, each in a line:

    p PID       the command was started
    s SIGNAL    the command was stopped (Ctrl-Z)
    e STATUS    the command ended; a status of wait(2)
    n           nothing is left; the keeper ends

The host may send `k` (kill everything) and `l` (leave: end at once, and let everything live).

A run may be meant to survive its host. Then the keeper goes on when the host is gone, until
nothing is left: it holds the locks by which others see that the run lives, reads what the command
prints and throws it away, and writes down how the command ended. SIGUSR1 tells it to end all.
"""

# `signal` without its enums, which would be a third of what an idle keeper takes.
import _signal  # type: ignore[import-not-found]
import os
import select
import sys
import time

_LIGHT_AFTER_S = 1.0  # most commands end sooner, and starting an interpreter takes 10 ms
_GRACE_S = 2.0  # from SIGTERM to SIGKILL
_SHORTEST_S, _LONGEST_S = 0.002, 1.0  # between rounds of SIGKILL

_IGNORED = (
    _signal.SIGHUP,
    _signal.SIGINT,
    _signal.SIGQUIT,
    _signal.SIGTERM,
    _signal.SIGTSTP,
    _signal.SIGTTIN,
    _signal.SIGTTOU,
    _signal.SIGPIPE,
)


class Keeper:
    """The keeper's side of one run.

    `host` is a pidfd. `told` and `orders` are pipes to and from the host. `terminal` is the
    command's terminal, whose session the keeper leads; -1 without one. `guarded`: the command is
    bwrap, whose end ends everything in the sandbox, so that it gets no SIGTERM. `survives` are
    descriptors of a run that survives its host: where its end is written down, how many of the
    others are outputs to be read, these, and the locks; empty for other runs.
    """

    def __init__(
        self,
        host: int,
        told: int,
        orders: int,
        terminal: int,
        command: int,
        guarded: bool,
        survives: tuple[int, ...] = (),
    ) -> None:
        self.host = host
        self.told = told
        self.orders = orders
        self.terminal = terminal
        self.command = command  # 0 after it has ended
        self.guarded = guarded
        self.survives = survives
        self._killing = False
        self._heard, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def keep(self, until: float | None) -> bool:
        """Do the keeper's work; return whether it is over. At the time `until` it is not."""
        for number in _IGNORED:
            _signal.signal(number, _signal.SIG_IGN)
        _signal.signal(_signal.SIGCHLD, _noted)
        if self.survives:
            _signal.signal(_signal.SIGUSR1, _noted)
        _signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        poller = select.poll()
        for fd in (self.host, self.orders, self._heard):
            poller.register(fd, select.POLLIN)
        pause = _SHORTEST_S
        while self._reap():
            if self._killing:
                kill_children()
                pause = min(2 * pause, _LONGEST_S)
            elif until is not None and time.monotonic() >= until:
                return False
            ready = [fd for fd, _event in poller.poll(self._wait_ms(until, pause))]
            self._rest()
            if self.host in ready:
                self._go_on_alone()
                return True
            if self.orders in ready:
                order = os.read(self.orders, 64)
                if not order:  # the host's end is closed, but the host still lives
                    poller.unregister(self.orders)
                elif b"l" in order:
                    return True
                elif not self._killing:
                    self._killing, pause = True, _SHORTEST_S
        self._tell(b"n\n")
        return True

    def become_light(self) -> None:
        """Start this file as a program. Returns only if that is not possible."""
        _signal.set_wakeup_fd(-1)
        program, interpreter = _file(), sys.executable
        if not interpreter or not os.path.isfile(program):
            return
        fds = (self.host, self.told, self.orders, self.terminal)
        for fd in fds:
            if fd >= 0:
                os.set_inheritable(fd, True)
        for fd in self._held():
            os.set_inheritable(fd, True)
        words = map(str, (*fds, self.command, int(self.guarded), *self.survives))
        try:
            os.execv(interpreter, (interpreter, "-S", "-I", "-E", program, *words))
        except OSError:
            pass  # it was deleted meanwhile (an upgrade): go on as we are

    def _held(self) -> tuple[int, ...]:
        """Return the descriptors of a run that survives its host."""
        return (self.survives[0], *self.survives[2:]) if self.survives else ()

    def _go_on_alone(self) -> None:
        """Go on without the host until nothing is left: end it, if the run does not survive."""
        if not self.survives or self._killing:
            self._end_everything()
            return
        count = self.survives[1]
        outputs = list(self.survives[2 : 2 + count])
        poller = select.poll()
        poller.register(self._heard, select.POLLIN)
        for fd in outputs:
            os.set_blocking(fd, False)
            poller.register(fd, select.POLLIN)
        while self._reap():
            for fd, _event in poller.poll():
                if fd == self._heard:
                    if _signal.SIGUSR1 in self._rest():
                        self._end_everything()
                        return
                elif not _drained(fd):
                    poller.unregister(fd)

    def _wait_ms(self, until: float | None, pause: float) -> float | None:
        if self._killing:
            return pause * 1000
        return None if until is None else max(0.0, until - time.monotonic()) * 1000

    def _rest(self) -> bytes:
        """Return the numbers of the signals that came."""
        try:
            return os.read(self._heard, 4096)
        except BlockingIOError:
            return b""

    def _reap(self) -> bool:
        """Wait for what has ended, and tell the host; return whether anything is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid != self.command:
                continue
            if os.WIFSTOPPED(status):
                self._tell(b"s %d\n" % os.WSTOPSIG(status))
                continue
            self.command = 0
            self._let_go_of_terminal()
            self._tell(b"e %d\n" % status)
            if self.survives:
                os.write(self.survives[0], b"%d\n" % status)

    def _let_go_of_terminal(self) -> None:
        """Make the keeper's own group the foreground of the terminal, and close the terminal.

        The hangup that follows goes to the foreground. What the command left running in the
        background lives on, as it does without a terminal.
        """
        if self.terminal >= 0:
            try:
                os.tcsetpgrp(self.terminal, os.getpgrp())
            except OSError:
                pass  # the terminal is gone already
            os.close(self.terminal)
            self.terminal = -1

    def _tell(self, line: bytes) -> None:
        try:
            os.write(self.told, line)
        except OSError:
            pass  # the host is gone; its pidfd says so, too

    def _end_everything(self) -> None:
        """End all that is left: SIGTERM, two seconds, SIGKILL until no child is left."""
        spared = self._warden()
        for pid in descendants():
            if pid not in spared:
                _send(pid, _signal.SIGTERM)
                _send(pid, _signal.SIGCONT)  # a stopped process does not act on SIGTERM
        poller = select.poll()
        poller.register(self._heard, select.POLLIN)
        kill_at, pause = time.monotonic() + _GRACE_S, _SHORTEST_S
        while self._reap():
            left = kill_at - time.monotonic()
            if left <= 0:
                kill_children()
                left = pause = min(2 * pause, _LONGEST_S)
            poller.poll(left * 1000)
            self._rest()

    def _warden(self) -> set[int]:
        """Return bwrap and its init: they end with the command, and would kill it at once."""
        if not self.guarded or not self.command:
            return set()
        return {self.command, *_children_of(self.command, _parents())}


def _file() -> str:
    """Return this file, compiled if it is: compiling takes 0.6 MB that are not given back."""
    compiled = __spec__.cached
    if compiled and os.path.isfile(compiled) and not sys.dont_write_bytecode:
        return os.path.abspath(compiled)  # what was just imported from there, or written there
    return os.path.abspath(__file__)


def descendants() -> list[int]:
    """Return the pids of the processes below this one, parents first."""
    parents = _parents()
    found = [os.getpid()]
    for pid in found:
        found += _children_of(pid, parents)
    return found[1:]


def kill_children() -> None:
    """Send SIGKILL to the children of this process and to their process groups.

    Their own children become ours when they end. A child that was not waited for keeps its number,
    so that no other process can be hit. Whoever is in a group of theirs is below us, too.
    """
    ours = os.getpgrp()
    for pid in _own_children():
        try:
            group = os.getpgid(pid)
        except OSError:
            continue
        if group != ours:
            try:
                os.killpg(group, _signal.SIGKILL)
            except OSError:
                pass
        _send(pid, _signal.SIGKILL)


def _own_children() -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children", "rb", buffering=0) as file:
                found += map(int, file.read(1 << 20).split())
    except OSError:  # a kernel without CONFIG_PROC_CHILDREN
        return _children_of(os.getpid(), _parents())
    return found


def _parents() -> dict[int, int]:
    """Return the parent of every process."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb", buffering=0) as file:
                    line = file.read(1024)
            except OSError:
                continue
            # The name in the second field may hold blanks and parentheses itself.
            found[int(name)] = int(line[line.rfind(b")") + 2 :].split()[1])
    return found


def _children_of(pid: int, parents: dict[int, int]) -> list[int]:
    return [child for child, parent in parents.items() if parent == pid]


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass  # it ended, or is another user's


def _drained(fd: int) -> bool:
    """Read what is there and throw it away; return whether more may come."""
    try:
        return bool(os.read(fd, 1 << 16))
    except BlockingIOError:
        return True
    except OSError:  # a terminal that nobody has open any more
        return False


def _noted(_number: int, _frame: object) -> None:
    """Do nothing: the number is in the wakeup pipe."""


def keep(keeper: Keeper) -> None:
    """Do a keeper's work to its end, after a while in an interpreter of its own."""
    if not keeper.keep(time.monotonic() + _LIGHT_AFTER_S):
        keeper.become_light()
        keeper.keep(None)


if __name__ == "__main__":
    host, told, orders, terminal, command, guarded = map(int, sys.argv[1:7])
    survives = tuple(map(int, sys.argv[7:]))
    Keeper(host, told, orders, terminal, command, bool(guarded), survives).keep(None)
