"""Find every process that a step started, so that `ender.py` can end them.

A process group is not enough: agents leave shells in sessions of their own, daemons that forked
twice, and children that ignore signals. Three methods are used together:

- While a command runs, its orphans become children of its keeper, or ours if it has no keeper
  (`adopting_orphans`), so that everything it started stays below us in the process tree.
- Every process of a step has the step's token in its environment. This works also after recorder
  and keeper were killed with SIGKILL: `ender.end_token` finds and ends what still lives.
- The whole group of a living process is killed at once, so that a process that forks faster than
  we look cannot escape.

Two kinds are not found: processes that a server starts on request (tmux, docker, cron, at,
systemd), which are no descendants and have another environment, and, after a SIGKILL of both
recorder and keeper, processes that cleared their environment.
"""

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import ProcessInfo, ProcessStatus

if sys.platform == "linux":
    from siding.ground.process import procfs as processes
else:
    from siding.ground.process import ps as processes

TERM_GRACE_S = 2.0
_CHASE_S = 0.1

if TYPE_CHECKING:
    from siding.ground.process.ports import Child

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

    def watch(self, child: "Child") -> None:
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
        self._seen.update(key_of(status) for status in found.values())
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
        if key_of(status) in self._seen or processes.has_token(status.pid, self._token):
            return True
        # Where environments cannot be read, the group that the command led tells. No other process
        # gets the number of a group that has members.
        return sys.platform != "linux" and status.group == self._pids()[0]


def info(status: ProcessStatus) -> ProcessInfo:
    """Return the part of a status that a step records."""
    return ProcessInfo(pid=status.pid, name=status.name, started=status.started)


def _commands() -> frozenset[int]:
    """Return the pids of the running commands and their keepers; their own runs wait for them."""
    return frozenset(pid for tree in _watching for pid in tree._pids())


def key_of(status: ProcessStatus) -> tuple[int, int]:
    """Return what tells a process from a later one of the same number: pid and start time."""
    return status.pid, status.started


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
