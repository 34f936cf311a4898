"""End every process that a step started, now or later. `tree.py` finds them and says how.

Loaded when something has to be ended: most commands end by themselves, with all that they started.

What a run left running was written down when it ended, each process with its start time. What such
a process starts later belongs to it: it is below it, or has the token of the run as the innermost
one in its environment. Runs that it started itself, and that live, are not part of it.
"""

import os
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path

from siding.ground.process.command import ProcessInfo, ProcessStatus, is_marked
from siding.ground.process.tree import (
    TERM_GRACE_S,
    EndedProcesses,
    ProcessTree,
    add_descendants,
    info,
    key_of,
    ourselves_and_above,
)

if sys.platform == "linux":
    from siding.ground.process import procfs as processes
else:
    from siding.ground.process import ps as processes

KILL_WAIT_S = 5.0
_DENIED_WAIT_S = 0.5  # how long processes that we may not signal get to end after the others
_LOOK_S = 0.02
Key = tuple[int, int]  # number and start time


class Ender:
    """Ends a tree in rounds, one for each call of `advance`.

    Between the rounds the caller can read what the processes still write. All get SIGTERM, and
    SIGCONT because a stopped process does not act on it. What they start after that to tidy up (a
    trap that calls `rm`) is left alone while its parent lives. After ``grace_s`` seconds all get
    SIGKILL, in every round, until two looks in a row find nothing or ``kill_wait_s`` seconds have
    passed.
    """

    def __init__(
        self, tree: ProcessTree, *, grace_s: float = TERM_GRACE_S, kill_wait_s: float = KILL_WAIT_S
    ) -> None:
        self._tree = tree
        self._kill_at = time.monotonic() + grace_s
        self._give_up_at = self._kill_at + kill_wait_s
        self._told: dict[tuple[int, int], ProcessStatus] = {}
        self._denied: set[tuple[int, int]] = set()
        self._left: list[ProcessStatus] = []
        self._empty_looks = 0

    def at_once(self) -> None:
        """Make the next round send SIGKILL."""
        self._kill_at = min(self._kill_at, time.monotonic())

    def advance(self) -> bool:
        """Do one round; return True when everything has ended or time is up.

        Call it about every 20 ms.
        """
        now = time.monotonic()
        restless = self._tree.reap() > 0  # one ended since the last look and may have forked before
        self._left = self._tree.living()
        alone = self._tree.is_alone()
        if alone is None:
            self._empty_looks = 0 if self._left or restless else self._empty_looks + 1
            alone = self._empty_looks > 1
        if (alone and not self._left) or now >= self._give_up_at:
            return True
        if now < self._kill_at:
            self._terminate()
            return False
        self._kill()
        if restless:
            self._tree.chase()
        denied = [status for status in self._left if key_of(status) in self._denied]
        waited = now >= self._kill_at + _DENIED_WAIT_S
        return bool(denied) and denied == self._left and waited and not restless

    def result(self) -> EndedProcesses:
        """Return the ended processes and the survivors, as of the last round."""
        left = {key_of(status) for status in self._left}
        ended = (status for key, status in self._told.items() if key not in left | self._denied)
        return EndedProcesses(
            ended=tuple(info(status) for status in ended),
            survivors=tuple(info(status) for status in self._left),
        )

    def _terminate(self) -> None:
        tidying = {status.pid for status in self._left} if self._told else set()
        for status in self._left:
            if self._tree.warden and self._tree.warden in (status.pid, status.parent):
                continue  # bwrap and its init end with the command; ending them would SIGKILL it
            if key_of(status) not in self._told and status.parent not in tidying:
                self._tell(status, signal.SIGTERM)
                processes.send_signal(status, signal.SIGCONT)

    def _kill(self) -> None:
        self._tree.kill()
        for group in {status.group for status in self._left} - self._tree.safe_groups:
            _kill_group(group)
        for status in self._left:
            self._tell(status, signal.SIGKILL)

    def _tell(self, status: ProcessStatus, number: int) -> None:
        self._told[key_of(status)] = status
        if not processes.send_signal(status, number):
            self._denied.add(key_of(status))


def end_all(
    tree: ProcessTree, *, grace_s: float = TERM_GRACE_S, kill_wait_s: float = KILL_WAIT_S
) -> EndedProcesses:
    """End a tree and wait for it, at most ``grace_s`` + ``kill_wait_s`` seconds and one look."""
    ender = Ender(tree, grace_s=grace_s, kill_wait_s=kill_wait_s)
    while not ender.advance():
        time.sleep(_LOOK_S)
    return ender.result()


def end_token(
    token: str,
    *,
    command: tuple[int, int] = (0, 0),
    grace_s: float = TERM_GRACE_S,
    kill_wait_s: float = KILL_WAIT_S,
) -> EndedProcesses:
    """End the processes of the step with this token, after its recorder was killed.

    `command` is the step's command, as pid and start time: one that keeps its memory from others,
    as Siding's own agent does, shows no token.
    """
    tree = ProcessTree(token, known=[command] if command[0] else ())
    return end_all(tree, grace_s=grace_s, kill_wait_s=kill_wait_s)


def orphans_in(directory: Path, *, since: int) -> list[ProcessInfo]:
    """Return processes without a parent of their own that work below a directory.

    `since` is a start time; older ones are left out. These are the ones that a run may have left
    when its host and its keeper were killed at once. On systems without /proc none is found.
    """
    everything = processes.all_processes()
    reapers = {1, *(status.pid for status in everything.values() if status.name == "systemd")}
    found = []
    for status in everything.values():
        if status.parent in reapers and status.started >= since:
            place = processes.directory_of(status.pid)
            if place is not None and place.is_relative_to(directory):
                found.append(info(status))
    return found


def _kill_group(group: int) -> None:
    """Send SIGKILL to a whole process group in one call, so that no member can fork meanwhile.

    The id was just read from a living member, and the kernel does not reuse the id of a group that
    has members.
    """
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass  # gone, or another user's; the caller signals each member by itself too


if sys.platform == "linux":
    from siding.ground.process import procfs as processes
else:
    from siding.ground.process import ps as processes


class LeftTree(ProcessTree):
    """What a run left running: the processes `marks`, and what they started since.

    `others` are processes of other runs that live. One of them that is found is left out with all
    that is below it: it is another run, which was started from here.
    """

    def __init__(self, marks: Collection[Key], token: str, others: Collection[Key] = ()) -> None:
        super().__init__(token)
        self._marks = set(marks)
        self._others = frozenset(others)

    def has_mark(self) -> bool:
        """Tell whether one of the processes lives that were written down. A quick look."""
        found = map(processes.read_status, {pid for pid, _started in self._marks})
        return any(_key(status) in self._marks for status in found if status is not None)

    def living(self) -> list[ProcessStatus]:
        """Return the processes that live.

        Of one that this command runs in, that is without this command, what is above it and what it
        started itself.
        """
        everything = processes.all_processes()
        found = self._in(everything)
        ours = {pid: found[pid] for pid in {os.getpid()} & {*found}}
        add_descendants(ours, everything, set())
        safe = ourselves_and_above(everything) | {*ours}
        found = {pid: status for pid, status in found.items() if pid not in safe}
        self.safe_groups = {s.group for s in everything.values() if s.pid not in found} | {0}
        return list(found.values())

    def everyone(self) -> list[ProcessStatus]:
        """Return the processes that live, also those that this command runs in."""
        found = self._in(processes.all_processes())
        return [status for status in found.values() if status.pid != os.getpid()]

    def is_around_us(self) -> bool:
        """Tell whether this command runs in it."""
        everything = processes.all_processes()
        return not ourselves_and_above(everything).isdisjoint(self._in(everything))

    def is_over(self) -> bool:
        """Tell whether nothing is left. One look may miss a process that starts meanwhile."""
        if self.everyone():
            return False
        time.sleep(_LOOK_S)
        return not self.everyone()

    def _in(self, everything: dict[int, ProcessStatus]) -> dict[int, ProcessStatus]:
        found = {
            status.pid: status
            for status in everything.values()
            if _key(status) in self._marks or self._carries(status.pid)
        }
        add_descendants(found, everything, set())
        shielded = {s.pid: s for s in found.values() if _key(s) in self._others}
        add_descendants(shielded, everything, set())
        kept = {pid: status for pid, status in found.items() if pid not in shielded}
        # Once seen it belongs to it, also when its parent has ended and nothing says so any more.
        self._marks.update(_key(s) for s in kept.values() if s.pid != os.getpid())
        return kept

    def _carries(self, pid: int) -> bool:
        """Tell whether the run is the innermost one that a process is of, by its environment."""
        return is_marked(processes.tokens_of(pid)[-1:], self.token)


def age_s(status: ProcessStatus) -> int:
    """Return for how many whole seconds a process has lived."""
    return max(0, int(processes.age_of(status)))


def may_signal(status: ProcessStatus) -> bool:
    """Tell whether a process may be paused and ended by us; not so if it is another user's."""
    try:
        os.kill(status.pid, 0)
    except PermissionError:
        return False
    except OSError:
        pass  # it has ended
    return True


def _key(status: ProcessStatus) -> Key:
    return status.pid, status.started
