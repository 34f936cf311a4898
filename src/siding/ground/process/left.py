"""The processes that a run left running when it ended: found again later, and ended.

They were written down when the run ended, each with its start time. What such a process starts
later belongs to it: it is below it, or has the token of the run as the innermost one in its
environment. Runs that it started itself, and that live, are not part of it.
"""

import os
import sys
import time
from collections.abc import Collection

from siding.ground.process.command import is_marked
from siding.ground.process.status import ProcessStatus
from siding.ground.process.tree import ProcessTree, add_descendants, ourselves_and_above

if sys.platform == "linux":
    from siding.ground.process import procfs as processes
else:
    from siding.ground.process import ps as processes

_LOOK_S = 0.02

Key = tuple[int, int]  # number and start time


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
