"""Find every process that a step started, and end them.

A process group is not enough: agents leave shells in sessions of their own, daemons that forked
twice, and children that ignore signals. Three methods are used together:

- While a command runs, its orphans become children of its keeper, or ours if it has no keeper
  (`adopting_orphans`), so that everything it started stays below us in the process tree.
- Every process of a step has the step's token in its environment. This works also after recorder
  and keeper were killed with SIGKILL: `end_token` finds and ends the processes that still live.
- The whole group of a living process is killed at once, so that a process that forks faster than
  we look cannot escape.

Two kinds are not found: processes that a server starts on request (tmux, docker, cron, at,
systemd), which are no descendants and have another environment, and, after a SIGKILL of both
recorder and keeper, processes that cleared their environment.
"""

import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import ProcessInfo
from siding.ground.process.keeper.child import Child
from siding.ground.process.status import ProcessStatus

if sys.platform == "linux":
    from siding.ground.process import procfs as processes
else:
    from siding.ground.process import ps as processes

TERM_GRACE_S = 2.0
KILL_WAIT_S = 5.0
_DENIED_WAIT_S = 0.5  # how long processes that we may not signal get to end after the others
_LOOK_S = 0.02
_CHASE_S = 0.1

_watching: "set[ProcessTree]" = set()  # the trees of the commands that run now, in this process


class EndedProcesses(NamedTuple):
    """The processes that were ended, and the survivors.

    A survivor is another user's process, or one stuck in the kernel (uninterruptible sleep).
    """

    ended: tuple[ProcessInfo, ...]
    survivors: tuple[ProcessInfo, ...]


class ProcessTree:
    """The processes of one step: those with its token, and their descendants.

    ``known`` are processes of the step, as pid and start time, whatever their environment shows.

    With ``adopting``, make it before the step's command is started, pass the command to `watch`,
    and call `close` in the end. Then everything below the command's keeper belongs to the step.
    Without a keeper, every child of ours outside our session does: the command, and the orphans it
    left. If such children may have another origin (we had children before, several commands run,
    we are init), they must also have the token, or have been seen below the command before.
    """

    def __init__(
        self, token: str, *, adopting: bool = False, known: Iterable[tuple[int, int]] = ()
    ) -> None:
        self.safe_groups: set[int] = set()  # process groups with a member that is not of the step
        self.warden = 0  # bwrap's pid: its end ends all the others, so it gets no SIGTERM
        self._token = token
        self._adopting = adopting
        self._child: Child | None = None
        self._seen: set[tuple[int, int]] = set(known)
        self._alone = os.getpid() != 1 and not _watching and processes.no_children()
        if adopting:
            for other in _watching:
                other._alone = False
            _watching.add(self)

    def watch(self, child: Child) -> None:
        """Take note that the step's command was started."""
        self._child = child

    def close(self) -> None:
        """Stop watching: the command has been waited for."""
        _watching.discard(self)

    def reap(self) -> int:
        """Reap adopted orphans that ended; return how many.

        A keeper reaps what is below it by itself; ours are then what earlier commands left.
        """
        return processes.reap_adopted(_commands()) if self._adopting else 0

    def is_alone(self) -> bool | None:
        """Tell whether nothing is left below the keeper; None without one."""
        return None if self._child is None else self._child.is_alone()

    def chase(self) -> None:
        """Kill orphans as they become our children, if all of them must be of this step."""
        if self._adopting and self._alone:
            processes.chase_adopted(_commands(), _CHASE_S)

    def tops(self) -> tuple[ProcessStatus | None, ProcessStatus | None]:
        """Return the command and its keeper, as far as they live."""
        command, keeper = (processes.read_status(pid) if pid else None for pid in self._pids())
        return command, keeper

    @property
    def token(self) -> str:
        return self._token

    def kill(self) -> None:
        """Have the keeper kill everything below it, faster than it can fork."""
        if self._child is not None:
            self._child.kill_all()

    def left(self) -> list[ProcessStatus]:
        """Return the processes that still live after the command has been waited for.

        When nothing is left below the keeper, or we have no child, this does not read /proc.
        """
        alone = self.is_alone()
        if alone is None:
            self.reap()
            alone = processes.no_children()
        return [] if alone else self.living()

    def living(self) -> list[ProcessStatus]:
        """Return the step's processes that live now; zombies do not count.

        A process that starts while we look may be missed. The next look finds it, unless it forks
        and ends without pause.
        """
        everything = processes.all_processes()
        safe = ourselves_and_above(everything)
        found = {status.pid: status for status in self._roots(everything) if status.pid not in safe}
        add_descendants(found, everything, safe)
        for status in everything.values():
            carries = status.pid not in found and status.pid not in safe
            if carries and self._knows(status):
                found[status.pid] = status
        add_descendants(found, everything, safe)
        self.safe_groups = {s.group for s in everything.values() if s.pid not in found} | {0}
        self._seen.update(_key(status) for status in found.values())
        return list(found.values())

    def ticks(self) -> int:
        """Return the processor time of the step's processes and of their ended children.

        It is in clock ticks, and stays the same while all of them sleep.
        """
        return sum(processes.ticks_of(status.pid) for status in self.living())

    def _roots(self, everything: dict[int, ProcessStatus]) -> list[ProcessStatus]:
        """Return our children that belong to the step."""
        if not self._adopting:
            return []
        ours, session = os.getpid(), os.getsid(0)
        command, keeper = self._pids()
        if keeper in everything and everything[keeper].parent == ours:
            return [status for status in everything.values() if status.parent == keeper]
        others = _commands() - {command}
        return [
            status
            for status in everything.values()
            # Our helpers stay in our session; a command is leader of a session of its own.
            if status.parent == ours
            and status.session != session
            and status.pid not in others
            and (self._alone or status.pid == command or self._knows(status))
        ]

    def _pids(self) -> tuple[int, int]:
        """Return the pids of the command and its keeper; 0 for what is not there."""
        return (0, 0) if self._child is None else (self._child.pid, self._child.keeper)

    def _knows(self, status: ProcessStatus) -> bool:
        return _key(status) in self._seen or processes.has_token(status.pid, self._token)


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
        denied = [status for status in self._left if _key(status) in self._denied]
        waited = now >= self._kill_at + _DENIED_WAIT_S
        return bool(denied) and denied == self._left and waited and not restless

    def result(self) -> EndedProcesses:
        """Return the ended processes and the survivors, as of the last round."""
        left = {_key(status) for status in self._left}
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
            if _key(status) not in self._told and status.parent not in tidying:
                self._tell(status, signal.SIGTERM)
                processes.send_signal(status, signal.SIGCONT)

    def _kill(self) -> None:
        self._tree.kill()
        for group in {status.group for status in self._left} - self._tree.safe_groups:
            _kill_group(group)
        for status in self._left:
            self._tell(status, signal.SIGKILL)

    def _tell(self, status: ProcessStatus, number: int) -> None:
        self._told[_key(status)] = status
        if not processes.send_signal(status, number):
            self._denied.add(_key(status))


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


def info(status: ProcessStatus) -> ProcessInfo:
    """Return the part of a status that a step records."""
    return ProcessInfo(pid=status.pid, name=status.name, started=status.started)


def _commands() -> frozenset[int]:
    """Return the pids of the running commands and their keepers; their own runs wait for them."""
    return frozenset(pid for tree in _watching for pid in tree._pids())


def _key(status: ProcessStatus) -> tuple[int, int]:
    return status.pid, status.started


def _kill_group(group: int) -> None:
    """Send SIGKILL to a whole process group in one call, so that no member can fork meanwhile.

    The id was just read from a living member, and the kernel does not reuse the id of a group that
    has members.
    """
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass  # gone, or another user's; the caller signals each member by itself too


def ancestors() -> frozenset[int]:
    """Return the pids of our ancestors, as far as they can be read."""
    found: set[int] = set()
    status = processes.read_status(os.getpid())
    while status is not None and status.parent > 0 and status.parent not in found:
        found.add(status.parent)
        status = processes.read_status(status.parent)
    return frozenset(found)


def ourselves_and_above(everything: dict[int, ProcessStatus]) -> set[int]:
    """Return our pid and those of our ancestors."""
    above = {os.getpid()}
    status = everything.get(os.getpid())
    while status is not None and status.parent not in above:
        above.add(status.parent)
        status = everything.get(status.parent)
    return above


def add_descendants(
    found: dict[int, ProcessStatus], everything: dict[int, ProcessStatus], safe: set[int]
) -> None:
    """Add all that is below the processes in `found`, without what is in `safe` or below that."""
    children: dict[int, list[ProcessStatus]] = {}
    for status in everything.values():
        children.setdefault(status.parent, []).append(status)
    waiting = list(found)
    while waiting:
        for status in children.get(waiting.pop(), ()):
            if status.pid not in found and status.pid not in safe:
                found[status.pid] = status
                waiting.append(status.pid)
