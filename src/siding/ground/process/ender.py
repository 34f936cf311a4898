"""End every process that a step started. `tree.py` finds them and says how.

Loaded when something has to be ended: most commands end by themselves, with all that they started.
"""

import os
import signal
import sys
import time
from pathlib import Path

from siding.ground.process.command import ProcessInfo
from siding.ground.process.status import ProcessStatus
from siding.ground.process.tree import TERM_GRACE_S, EndedProcesses, ProcessTree, info, key_of

if sys.platform == "linux":
    from siding.ground.process import procfs as processes
else:
    from siding.ground.process import ps as processes

KILL_WAIT_S = 5.0
_DENIED_WAIT_S = 0.5  # how long processes that we may not signal get to end after the others
_LOOK_S = 0.02


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
