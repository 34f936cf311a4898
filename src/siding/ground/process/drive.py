"""The loop that runs while a command does: it moves output, handles signals, checks limits.

    running --(it ends)--------------------------> draining --> over
       |                                              ^
       +--(timeout, signal to us)--> ending ----------+

Running: the loop moves bytes, and passes the first SIGINT on to the command's group.
Ending: an `Ender` ends all processes in rounds. Bytes still move, but a slow screen loses some.
Draining: the loop reads the rest from the pipes. A daemon may hold them open for ever, so it stops
after QUIET_S without a byte, and after DRAIN_S in any case.
"""

import os
import select
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from siding.ground.process.signals import ENDING, INTERRUPT, STOP, SignalInbox
from siding.ground.process.streams import Channel, TerminalInput
from siding.ground.process.tree import EndedProcesses, ProcessTree

if TYPE_CHECKING:
    from siding.ground.process.ctrl_z import Suspending
    from siding.ground.process.ender import Ender
    from siding.ground.process.limit_watch import LimitWatch
    from siding.ground.process.limits import Breach
    from siding.ground.process.ports import Child, Looks

QUIET_S = 0.25  # a held-open pipe is given up after this long without a byte
DRAIN_S = 5.0  # and after this long in any case
_ROUND_S = 0.02
_TROUBLE = select.POLLHUP | select.POLLERR | select.POLLNVAL  # the next read or write says which
_UNSIGNALLED_LOOK_S = 0.05  # between looks at the child when nothing tells us of its end
_BACKGROUND_LOOK_S = 0.5  # between looks whether the terminal is ours again


class Beside(Protocol):
    """Something else that the loop serves: its descriptors, and when it has to be asked again."""

    @property
    def due(self) -> float | None: ...

    def wanted(self) -> list[tuple[int, int, Callable[[], object]]]: ...


class Suspends:
    """What suspends a run, made at the first key, stop or Ctrl-Z; `made` has it then."""

    def __init__(self, make: "Callable[[], Suspending]") -> None:
        self.made: tuple[Suspending, ...] = ()
        self._make = make

    def __call__(self) -> "Suspending":
        if not self.made:
            self.made = (self._make(),)
        return self.made[0]


class Drive:
    """Watches over a started command. After `run` has returned, the public attributes tell how
    the command ended."""

    def __init__(
        self,
        child: "Child",
        tree: ProcessTree,
        inbox: SignalInbox,
        channels: list[Channel],
        *,
        timeout_s: float | None,
        grace_s: float,
        typed: TerminalInput | None = None,
        suspends: Suspends,
    ) -> None:
        self.status: int | None = None  # the command's exit status, negative for a signal
        self.timed_out = False
        self.breach: Breach | None = None  # the limit it was ended for
        self.interrupted_by: int | None = None
        self.was_stopped = False  # somebody asked for the end of the run
        self.held_open = False  # a process left behind kept a pipe open after the command's end
        self.ended_at = 0.0
        self._child = child
        self._tree = tree
        self._inbox = inbox
        self._channels = channels
        self._typed = typed
        self._suspends = suspends
        self._watch: LimitWatch | None = None
        self._looks: list[Looks] = []
        self._group: Callable[[], int | None] | None = None
        self._beside: list[Beside] = []
        self._grace_s = grace_s
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._ender: Ender | None = None
        self._ending = False
        self._last_byte = 0.0

    def watch(self, watch: "LimitWatch") -> None:
        """Check `watch` in the loop, and end the run when it reports a breach."""
        self._watch = watch

    def serve(self, *beside: Beside) -> None:
        """Serve something else in the loop, too."""
        self._beside += beside

    def look_with(self, looks: "Looks") -> None:
        """Have `looks` look from time to time while the command lives."""
        self._looks.append(looks)

    def interrupt(self, group: Callable[[], int | None]) -> None:
        """Send Ctrl-C to the process group that `group` returns, instead of our child's.

        In a sandbox our child is bwrap and the command has another group.
        """
        self._group = group

    def run(self) -> None:
        """Loop until the command has ended, its output is read and the screen has shown it."""
        while not self._over():
            self._move_bytes()
            if self._take_signals() or self._ending or self._must_look:
                self._look_at_child()
            self._look_at_clock()
        for channel in self._channels:
            channel.close()

    def result(self) -> EndedProcesses:
        """Return the processes we ended, and those we could not end."""
        return (
            EndedProcesses(ended=(), survivors=()) if self._ender is None else self._ender.result()
        )

    @property
    def ending_was_forced(self) -> bool:
        return self._ender is not None

    def _over(self) -> bool:
        moving = any(channel.open or channel.blocked for channel in self._channels)
        return self._draining and not moving

    @property
    def _in_background(self) -> bool:
        """Whether another job has the person's terminal."""
        made = self._suspends.made
        return bool(made) and made[0].in_background

    @property
    def _must_look(self) -> bool:
        """Whether nothing tells us when the command ends: neither SIGCHLD nor a keeper."""
        return not self._inbox.active and self._child.fileno() < 0

    @property
    def _draining(self) -> bool:
        return not self._ending and (self.status is not None or self._ender is not None)

    def _move_bytes(self) -> None:
        wanted: list[tuple[int, int, Callable[[], object]]] = []
        for beside in self._beside:  # first: they may have something to type
            wanted += beside.wanted()
        for channel in self._channels:
            if channel.blocked:
                wanted.append((channel.screen.fileno(), select.POLLOUT, channel.screen.flush))
            elif channel.open:
                wanted.append((channel.fd, select.POLLIN, partial(self._pump, channel)))
        if self._typed is not None and self.status is None and self._channels[0].open:
            if self._typed.pending:
                wanted.append((self._typed.master, select.POLLOUT, self._typed.send))
            elif self._typed.open and not self._in_background:
                wanted.append((self._typed.fd, select.POLLIN, self._typed.read))
        if self._child.fileno() >= 0:
            wanted.append((self._child.fileno(), select.POLLIN, self._look_at_child))
        for fd, event in self._poll(wanted):
            for wanted_fd, mask, act in wanted:
                if fd == wanted_fd and event & (mask | _TROUBLE):
                    act()

    def _poll(self, wanted: list[tuple[int, int, Callable[[], object]]]) -> list[tuple[int, int]]:
        poller = select.poll()
        poller.register(self._inbox, select.POLLIN)
        masks: dict[int, int] = {}
        for fd, mask, _act in wanted:
            masks[fd] = masks.get(fd, 0) | mask
        for fd, mask in masks.items():
            poller.register(fd, mask)
        pause = self._pause()
        return poller.poll(None if pause is None else max(0.0, pause * 1000))

    def _pump(self, channel: Channel) -> None:
        if channel.open and channel.pump():
            self._last_byte = time.monotonic()
            for each in self._looks:
                each.output(self._last_byte)
            if self._watch is not None and self.breach is None:
                self._judge(self._watch.output(sum(each.moved for each in self._channels)))

    def _judge(self, breach: "Breach | None") -> None:
        """End everything when a limit was passed and nothing else is ending it."""
        if breach is not None and self._ender is None and not self._draining:
            self.breach = breach
            self._end_everything()

    def _pause(self) -> float | None:
        if self._ending:
            return _ROUND_S
        if self._draining:
            return QUIET_S / 5
        now = time.monotonic()
        left = None if self._deadline is None else self._deadline - now
        look = None if self._watch is None else self._watch.pause(now)
        if look is not None:
            left = look if left is None else min(left, look)
        for each in self._looks:
            turn = each.pause(now)
            left = turn if left is None else min(left, turn)
        if self._must_look:
            left = _UNSIGNALLED_LOOK_S if left is None else min(left, _UNSIGNALLED_LOOK_S)
        if self._in_background:
            left = _BACKGROUND_LOOK_S if left is None else min(left, _BACKGROUND_LOOK_S)
        dues = [each.due for each in self._suspends.made]
        dues += [each.due for each in self._beside]
        for due in [due for due in dues if due is not None]:
            left = due - now if left is None else min(left, due - now)
        return left

    def _take_signals(self) -> bool:
        """Act on the signals that came; return whether there were any."""
        numbers = self._inbox.take()
        for number in numbers:
            if number == signal.SIGCHLD:
                # Before its orphans: waitid(WNOWAIT) returns only the first dead child, and while
                # that is the command itself `reap` can see no orphan behind it.
                self._look_at_child()
                self._tree.reap()
            elif number == signal.SIGWINCH:
                self._suspends().resized()
            elif number == signal.SIGTSTP:
                self._suspends().asked()
            elif number == signal.SIGCONT:
                self._suspends().continued()
            elif number == STOP:
                self.was_stopped = True
                self._stop(signal.SIGTERM)
            elif number == INTERRUPT:
                if self._ender is None:
                    self._forward_interrupt()
            elif number == signal.SIGINT or number in ENDING:
                self._stop(number)
        return bool(numbers)

    def _stop(self, number: int) -> None:
        if self._draining:
            self._leave()
        elif self._ender is not None:
            self._ender.at_once()
        else:
            first = self.interrupted_by is None
            self.interrupted_by = self.interrupted_by or number
            if number == signal.SIGINT and first:
                self._forward_interrupt()
            else:
                self._end_everything()

    def _forward_interrupt(self) -> None:
        group = self._child.pid
        try:
            if self._typed is not None:
                group = os.tcgetpgrp(self._typed.master)
            elif self._group is not None:
                group = self._group() or 0
            if group > 0:
                os.killpg(group, signal.SIGINT)
        except OSError:
            pass  # it just ended, or is another user's; the next signal ends everything

    def _end_everything(self, *, hurry: bool = True) -> None:
        """Begin to end all processes; with `hurry` no slow screen is waited for."""
        from siding.ground.process.ender import Ender

        self._ender = Ender(self._tree, grace_s=self._grace_s)
        self._ending = True
        for channel in self._channels if hurry else ():
            channel.screen.hurry()

    def _leave(self) -> None:
        """Stop draining: the command is over, and the caller pressed Ctrl-C once more."""
        for channel in self._channels:
            channel.screen.hurry()
        self.ended_at = time.monotonic() - DRAIN_S

    def _look_at_child(self) -> None:
        self._see_whether_it_ended()
        if self._ending:
            assert self._ender is not None
            if self._ender.advance():
                self._see_whether_it_ended()
                self._ending = False
                self.ended_at = self._last_byte = time.monotonic()

    def _see_whether_it_ended(self) -> None:
        if self.status is not None:
            return
        self.status = self._child.poll()
        if self.status is None:
            if number := self._child.stopped():
                self._suspends().command_stopped(number)
            return
        self.ended_at = self._last_byte = time.monotonic()
        if self._watch is not None and self._ender is None:
            self.breach = self._watch.refused()  # the command can end before the next sample
        for channel in self._channels:
            channel.command_ended()
        if self._typed is not None and self.status == -signal.SIGINT:
            self.interrupted_by = self.interrupted_by or signal.SIGINT
        if (self.interrupted_by is not None or self.status < 0) and self._ender is None:
            # What a command leaves when it dies of a signal, nobody left on purpose.
            self._end_everything(hurry=self.interrupted_by is not None)

    def _look_at_clock(self) -> None:
        now = time.monotonic()
        for suspending in self._suspends.made:
            suspending.look(now)
            if suspending.in_background:
                suspending.continued()  # not every shell's `fg` sends SIGCONT
        for each in self._looks if not (self._draining or self._ending) else ():
            each.look(now)
        if self._draining:
            self._give_up_held_pipes(now)
        elif self._ender is None and self._deadline is not None and now >= self._deadline:
            self.timed_out = True
            self._end_everything()
        elif self._ender is None and self._watch is not None:
            self._judge(self._watch.look(now))

    def _give_up_held_pipes(self, now: float) -> None:
        if any(channel.blocked for channel in self._channels):
            self._last_byte = now  # we wait for the screen, so the pipe is not quiet by itself
        elif now - self._last_byte >= QUIET_S or now - self.ended_at >= DRAIN_S:
            for channel in self._channels:
                self.held_open = self.held_open or channel.open
                channel.close()
