"""Everything a step started, wherever it went, and ending it.

A process group is not enough: agents leave shells in sessions of their own, daemons that forked
twice, and children that ignore signals. Three nets are used together:

- while a command runs, its orphans become our children (`adopting_orphans`), so all it started
  stays below us in the process tree;
- every process of a step carries the step's token in its environment, which finds it also when
  the recorder was killed with SIGKILL: then nothing is ended at that moment, the output files
  hold all that was read, and `processes_with_token` and `end_token` find and end what still lives;
- a living process's whole group is killed at once, so that one that forks faster than we look
  cannot slip away.

Not found: processes somebody else starts on request (a tmux or docker server, cron, at, systemd),
which are no descendants and do not have our environment; after a SIGKILL of the recorder also
those that cleared their environment.
"""

import os
import signal
import sys
import time
from typing import NamedTuple

from siding.process.command import ProcessInfo
from siding.process.status import Status

if sys.platform == "linux":
    from siding.process import procfs as processes
else:
    from siding.process import ps as processes

TERM_GRACE_S = 2.0
KILL_WAIT_S = 5.0
_DENIED_WAIT_S = 0.5  # for processes we may not signal, to end because the others did
_LOOK_S = 0.02
_CHASE_S = 0.1

_watching: "set[Tree]" = set()  # of the commands under way in this process


class Ended(NamedTuple):
    """What was ended, and what could not be (no permission, or stuck in the kernel)."""

    ended: tuple[ProcessInfo, ...]
    survivors: tuple[ProcessInfo, ...]


class Tree:
    """The processes of one step, found by its token and by what descends from them.

    With ``adopting`` it is made before the step's command is started as our child (tell its pid
    with `watch`, and `close` in the end). Then every child of ours outside our session counts:
    the command, and the orphans it left us. Unless such children may be of other origin (we had
    children before, several commands run, we are init): then they must carry the token too, or
    have been seen below the command before.
    """

    def __init__(self, token: str, *, adopting: bool = False) -> None:
        self.safe_groups: set[int] = set()  # process groups somebody who is not of the step is in
        self.warden = 0  # a process whose end ends all the others at once: told last
        self._token = token
        self._adopting = adopting
        self._command = 0
        self._seen: set[tuple[int, int]] = set()
        self._alone = os.getpid() != 1 and not _watching and processes.no_children()
        if adopting:
            for other in _watching:
                other._alone = False
            _watching.add(self)

    def watch(self, command: int) -> None:
        """The step's command was started as our child with this pid."""
        self._command = command

    def close(self) -> None:
        """The command has been waited for."""
        _watching.discard(self)

    def reap(self) -> int:
        """Reap adopted orphans that ended; return how many."""
        return processes.reap_adopted(_commands()) if self._adopting else 0

    def chase(self) -> None:
        """Kill orphans as they come to us; only when all of them must be this step's."""
        if self._adopting and self._alone:
            processes.chase_adopted(_commands(), _CHASE_S)

    def left(self) -> list[Status]:
        """Return what lives now that the command has been waited for; quick when nothing does."""
        self.reap()
        return [] if processes.no_children() else self.living()

    def living(self) -> list[Status]:
        """Return what lives at about this moment; zombies do not live.

        A process that appears while we look may be missed; nothing is missed twice unless it
        forks and ends without pause.
        """
        everything = processes.all_processes()
        safe = _ourselves_and_above(everything)
        found = {status.pid: status for status in self._roots(everything) if status.pid not in safe}
        _add_descendants(found, everything, safe)
        for status in everything.values():
            carries = status.pid not in found and status.pid not in safe
            if carries and processes.has_token(status.pid, self._token):
                found[status.pid] = status
        _add_descendants(found, everything, safe)
        self.safe_groups = {s.group for s in everything.values() if s.pid not in found} | {0}
        self._seen.update(_key(status) for status in found.values())
        return list(found.values())

    def _roots(self, everything: dict[int, Status]) -> list[Status]:
        """Return the children of ours that belong to the step."""
        if not self._adopting:
            return []
        ours, session = os.getpid(), os.getsid(0)
        others = _commands() - {self._command}
        return [
            status
            for status in everything.values()
            # Our helpers stay in our session; a command and all it starts are outside it.
            if status.parent == ours
            and status.session != session
            and status.pid not in others
            and (self._alone or status.pid == self._command or self._knows(status))
        ]

    def _knows(self, status: Status) -> bool:
        return _key(status) in self._seen or processes.has_token(status.pid, self._token)


class Ender:
    """Ends a tree in rounds, one per call of `advance`, so that the caller can go on reading
    what the dying still write: SIGTERM (and SIGCONT, for the stopped) to everything; after the
    grace SIGKILL, again and again, until two looks in a row find nothing or time is up.
    """

    def __init__(
        self, tree: Tree, *, grace_s: float = TERM_GRACE_S, kill_wait_s: float = KILL_WAIT_S
    ) -> None:
        self._tree = tree
        self._kill_at = time.monotonic() + grace_s
        self._give_up_at = self._kill_at + kill_wait_s
        self._told: dict[tuple[int, int], Status] = {}
        self._denied: set[tuple[int, int]] = set()
        self._left: list[Status] = []
        self._empty_looks = 0

    def at_once(self) -> None:
        """Grant no more grace: the next round kills."""
        self._kill_at = min(self._kill_at, time.monotonic())

    def advance(self) -> bool:
        """Do one round; return True when there is no more to do. Call it every 20 ms or so."""
        now = time.monotonic()
        restless = self._tree.reap() > 0  # somebody ended since the last look, and may have forked
        self._left = self._tree.living()
        self._empty_looks = 0 if self._left or restless else self._empty_looks + 1
        if self._empty_looks > 1 or now >= self._give_up_at:
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

    def result(self) -> Ended:
        """Return who was ended and who was not, as of the last round."""
        left = {_key(status) for status in self._left}
        ended = (status for key, status in self._told.items() if key not in left | self._denied)
        return Ended(
            ended=tuple(info(status) for status in ended),
            survivors=tuple(info(status) for status in self._left),
        )

    def _terminate(self) -> None:
        for status in self._left:
            if self._tree.warden and self._tree.warden in (status.pid, status.parent):
                continue  # they end by themselves when the command did, and kill it when they end
            if _key(status) not in self._told:
                self._tell(status, signal.SIGTERM)
                processes.send_signal(status, signal.SIGCONT)

    def _kill(self) -> None:
        for group in {status.group for status in self._left} - self._tree.safe_groups:
            _kill_group(group)
        for status in self._left:
            self._tell(status, signal.SIGKILL)

    def _tell(self, status: Status, number: int) -> None:
        self._told[_key(status)] = status
        if not processes.send_signal(status, number):
            self._denied.add(_key(status))


def end_all(
    tree: Tree, *, grace_s: float = TERM_GRACE_S, kill_wait_s: float = KILL_WAIT_S
) -> Ended:
    """End a tree and wait for it: at most ``grace_s`` + ``kill_wait_s`` and one look."""
    ender = Ender(tree, grace_s=grace_s, kill_wait_s=kill_wait_s)
    while not ender.advance():
        time.sleep(_LOOK_S)
    return ender.result()


def processes_with_token(token: str) -> tuple[ProcessInfo, ...]:
    """Return what still lives of the step with this token: carriers and their descendants.

    Never us and what is above us, though we may have been started by that very step.
    """
    return tuple(info(status) for status in Tree(token).living())


def end_token(
    token: str, *, grace_s: float = TERM_GRACE_S, kill_wait_s: float = KILL_WAIT_S
) -> Ended:
    """End what still lives of the step with this token, after its recorder was killed."""
    return end_all(Tree(token), grace_s=grace_s, kill_wait_s=kill_wait_s)


def info(status: Status) -> ProcessInfo:
    """Return the part of a status that is worth recording."""
    return ProcessInfo(pid=status.pid, name=status.name, started=status.started)


def _commands() -> frozenset[int]:
    """The commands under way, which their own run waits for."""
    return frozenset(tree._command for tree in _watching)


def _key(status: Status) -> tuple[int, int]:
    return status.pid, status.started


def _kill_group(group: int) -> None:
    """Kill a process group at once: the kernel lets no member fork on the way.

    The group was just read from a living member, and a group id is not given out again while
    the group has members.
    """
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass  # gone, or not ours: each member is signalled by itself anyway


def ancestors() -> frozenset[int]:
    """Return the processes above this one, as far as they can be read."""
    found: set[int] = set()
    status = processes.read_status(os.getpid())
    while status is not None and status.parent > 0 and status.parent not in found:
        found.add(status.parent)
        status = processes.read_status(status.parent)
    return frozenset(found)


def _ourselves_and_above(everything: dict[int, Status]) -> set[int]:
    above = {os.getpid()}
    status = everything.get(os.getpid())
    while status is not None and status.parent not in above:
        above.add(status.parent)
        status = everything.get(status.parent)
    return above


def _add_descendants(
    found: dict[int, Status], everything: dict[int, Status], safe: set[int]
) -> None:
    children: dict[int, list[Status]] = {}
    for status in everything.values():
        children.setdefault(status.parent, []).append(status)
    waiting = list(found)
    while waiting:
        for status in children.get(waiting.pop(), ()):
            if status.pid not in found and status.pid not in safe:
                found[status.pid] = status
                waiting.append(status.pid)
