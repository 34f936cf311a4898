"""Decide when the workspace of a run is recorded while its command lives: by a timer, and in quiet
moments.

A moment is quiet if the command has printed nothing for a while and its processes took next to no
processor time meanwhile. After one look, the next quiet moment needs something to have happened.

Recording is the work of a process of its own (`begin`), so the command's output never waits for it.
Looks back off to twenty times what the last one took. One that failed is tried again.
"""

import os
import time
from collections.abc import Callable

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import Running, TimedOut
from siding.ground.process.command import TurnTimes
from siding.ground.process.tree import ProcessTree

LOOK_SHARE = 20  # looks take at most about 1/20 of the time
_END_S = 120.0  # how long the end of a run waits for a look that is under way
_POLL_S = 0.1  # between looks at a look; its end wakes us in most cases
_RETRY_S = 1.0  # at least, before a look that failed is tried again
_IDLE_SHARE = 0.01  # of a processor: a program that waits for a person takes some time, too
_TICKS_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100

QUIET, TIMER = "quiet", "timer"  # why a turn was recorded


class TurnFailures(NamedTuple):
    """How many looks failed, what the last one said, and whether a later one made up for it."""

    times: int = 0
    reason: str = ""
    is_open: bool = False


class TurnWatch:
    """Watches one run, and begins a look when it is time; `begin` starts the process that looks."""

    def __init__(
        self, times: TurnTimes, tree: ProcessTree, begin: Callable[[str], Running]
    ) -> None:
        now = time.monotonic()
        self.failures = TurnFailures()
        self.slowest_s = 0.0  # the longest look
        self._times = times
        self._begin = begin
        self._timer_at = None if times.every_s is None else now + times.every_s
        self._quiet = None if times.quiet_s is None else Quiet(tree, times.quiet_s, now)
        self._not_before = now
        self._again = ""  # the moment of a look that failed
        self._look: Running | None = None
        self._began = now

    def pause(self, now: float) -> float:
        """Return the seconds until `look` has something to do."""
        if self._look is not None:
            return _POLL_S
        if self._again:
            return max(0.0, self._not_before - now)
        due = [self._timer_at, None if self._quiet is None else self._quiet.due]
        return max(0.0, self._not_before - now, min(at for at in due if at is not None) - now)

    def output(self, now: float) -> None:
        """Take note that the command printed something."""
        if self._quiet is not None:
            self._quiet.disturbed(now)

    def look(self, now: float) -> None:
        """End a look whose process has ended; begin one if it is time."""
        if self._look is not None and self._look.has_ended():
            self._ended(now)
        if self._look is None and now >= self._not_before:
            moment = self._moment(now)
            if moment:
                self._start(moment, now)

    def finish(self) -> None:
        """Wait for the look that is under way: the command has ended."""
        if self._look is not None:
            self._ended(time.monotonic())

    @property
    def backed_off_s(self) -> float:
        """How long the pauses between looks were, if looking took too long for those asked for."""
        shortest = min(each for each in self._times if each is not None)
        pause = LOOK_SHARE * self.slowest_s
        return pause if pause > shortest else 0.0

    def _moment(self, now: float) -> str:
        if self._again:
            return self._again
        if self._timer_at is not None and now >= self._timer_at:
            return TIMER
        return QUIET if self._quiet is not None and self._quiet.has_come(now) else ""

    def _start(self, moment: str, now: float) -> None:
        if self._times.every_s is not None:
            self._timer_at = now + self._times.every_s
        self._again, self._began = moment, now
        try:
            self._look = self._begin(moment)
        except OSError as error:
            self._failed(error.strerror or str(error), now)

    def _ended(self, now: float) -> None:
        assert self._look is not None
        look, self._look = self._look, None
        try:
            done = look.finish(timeout_s=_END_S)
        except TimedOut as error:
            self._failed(error.message, now)
            return
        self.slowest_s = max(self.slowest_s, now - self._began)
        if done.returncode:
            self._failed(_first_line(done.stderr), now)
            return
        self._again = ""
        self.failures = self.failures._replace(is_open=False)
        self._not_before = now + LOOK_SHARE * (now - self._began)

    def _failed(self, reason: str, now: float) -> None:
        self.failures = TurnFailures(self.failures.times + 1, reason, is_open=True)
        self._not_before = now + max(_RETRY_S, LOOK_SHARE * (now - self._began))


class Quiet:
    """Tells when a moment is quiet. `due` is when it has to be asked next."""

    def __init__(self, tree: ProcessTree, seconds: float, now: float) -> None:
        self._tree = tree
        self._seconds = seconds
        self._disturbed_at = now
        self._sampled_at = now
        self._ticks: int | None = None
        self._is_awaited = True  # something happened since the last quiet moment
        self.due = now + seconds / 2

    def disturbed(self, now: float) -> None:
        self._disturbed_at, self._ticks, self._is_awaited = now, None, True
        self.due = now + self._seconds / 2

    def has_come(self, now: float) -> bool:
        """Take a sample of the processor time if it is due; return whether the moment is quiet.

        It takes two samples since the last output, half of the time apart at least.
        """
        if now < self.due:
            return False
        before, self._ticks = self._ticks, self._tree.ticks()
        took, since = time.monotonic() - now, now - self._sampled_at
        self._sampled_at = now
        self.due = now + max(self._seconds / 2, LOOK_SHARE * took)
        if before is None:
            return False
        gained = abs(self._ticks - before)
        self._is_awaited = self._is_awaited or gained > 0
        if gained > since * _TICKS_S * _IDLE_SHARE:
            self._disturbed_at = now
            return False
        if not self._is_awaited or now - self._disturbed_at < self._seconds:
            return False
        self._is_awaited = False
        return True


def _first_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("siding: error: ") if lines else "it ended without a word"
