"""Check a run against its limits (`limits.py`) while it goes on."""

import os
import stat
import time
from pathlib import Path

from siding.ground.process.limits import Breach, KernelLimits, Limits
from siding.ground.process.tree import ProcessTree

_LOOK_S = 0.1  # between samples at least
_LOOK_SHARE = 10  # sampling takes at most about 1/10 of the time, with many processes
_WALK_SHARE = 20  # walking the directories takes at most about 1/20 of the time


class LimitWatch:
    """Checks one run's limits. ``grows`` are the directories measured for the limit on the disk.

    ``kernel`` are the limits that the kernel enforces beside the samples.
    """

    def __init__(
        self,
        limits: Limits,
        tree: ProcessTree,
        grows: tuple[Path, ...],
        kernel: KernelLimits | None = None,
    ) -> None:
        self._kernel = kernel
        self._limits = limits
        self._tree = tree
        self._disk = _Growth(grows, limits.disk) if grows and limits.disk is not None else None
        self._next = 0.0

    def pause(self, now: float) -> float | None:
        """Return the seconds until the next sample is due; None when nothing is sampled."""
        return max(0.0, self._next - now) if self._limits.sampled else None

    def output(self, count: int) -> Breach | None:
        """Return a breach when `count` bytes of output are more than the limit."""
        allowed = self._limits.output
        if allowed is None or count <= allowed:
            return None
        return Breach(what="output", allowed=allowed, seen=count)

    def look(self, now: float) -> Breach | None:
        """Take a sample if one is due; return the first breach found."""
        if not self._limits.sampled or now < self._next:
            return None
        found = self._look_at_processes() or self.refused() or self._look_at_disk()
        ended = time.monotonic()
        self._next = ended + max(_LOOK_S, _LOOK_SHARE * (ended - now))
        return found

    def refused(self) -> Breach | None:
        """Return the limit at which the kernel killed or refused a process of the run."""
        return None if self._kernel is None else self._kernel.breach()

    def _look_at_processes(self) -> Breach | None:
        if self._limits.memory is None and self._limits.processes is None:
            return None
        warden = self._tree.warden
        pids = [
            status.pid
            for status in self._tree.living()
            if not warden or warden not in (status.pid, status.parent)
        ]
        allowed = self._limits.processes
        if allowed is not None and len(pids) > allowed:
            return Breach(what="processes", allowed=allowed, seen=len(pids))
        allowed = self._limits.memory
        if allowed is not None and (taken := sum(map(private_memory, pids))) > allowed:
            return Breach(what="memory", allowed=allowed, seen=taken)
        return None

    def _look_at_disk(self) -> Breach | None:
        if self._disk is None:
            return None
        grown = self._disk.look()
        allowed = self._limits.disk or 0
        return Breach(what="disk", allowed=allowed, seen=grown) if grown > allowed else None


class _Growth:
    """Measures how many bytes directories have grown together.

    Walking them is slow. So they are walked only when the file system lost as much room since the
    last walk as the limit leaves, or after 20 times as long as the last walk took.
    """

    def __init__(self, roots: tuple[Path, ...], allowed: int) -> None:
        self._roots = roots
        self._allowed = allowed
        self._grown = 0
        self._at_first = self._walk()

    def look(self) -> int:
        used = self._used()
        lost = used - self._used_then
        if lost > self._allowed - self._grown or time.monotonic() >= self._walk_at:
            self._grown = self._walk() - self._at_first
        return self._grown

    def _walk(self) -> int:
        began = time.monotonic()
        self._used_then = self._used()
        size = sum(map(tree_size, self._roots))
        ended = time.monotonic()
        self._walk_at = ended + max(1.0, _WALK_SHARE * (ended - began))
        return size

    def _used(self) -> int:
        total = 0
        for root in self._roots:
            seen = os.statvfs(root)
            total += (seen.f_blocks - seen.f_bfree) * seen.f_frsize
        return total  # roots on one file system count it twice; that only makes the walk earlier


def private_memory(pid: int) -> int:
    """Return the bytes of memory that a process shares with no file or process; 0 if it is gone.

    These are the resident pages without the shared ones, from /proc/PID/statm. Adding up resident
    sizes would count the pages of a library once for each process.
    """
    try:
        with open(f"/proc/{pid}/statm", "rb", buffering=0) as file:
            fields = file.read(256).split()
    except OSError:
        return 0
    return max(0, int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")


def tree_size(root: Path) -> int:
    """Return the bytes that the files below a directory take on the disk.

    A file with several names counts once; files and directories that cannot be read count 0.
    """
    total, waiting = 0, [os.fspath(root)]
    linked: set[tuple[int, int]] = set()
    while waiting:
        try:
            entries = os.scandir(waiting.pop())
        except OSError:
            continue
        with entries:
            for entry in entries:
                try:
                    seen = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISDIR(seen.st_mode):
                    waiting.append(entry.path)
                elif seen.st_nlink > 1:
                    if (seen.st_dev, seen.st_ino) in linked:
                        continue
                    linked.add((seen.st_dev, seen.st_ino))
                total += seen.st_blocks * 512
    return total
