"""Say when one of some processes has ended: one that was killed changes no file.

Linux tells it by a descriptor of the process, macOS and the BSDs by kqueue. Else, and when there
are no descriptors left, the process numbers are looked at each second.
"""

import os
import select
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any, Protocol

EVERY_S = 1.0

_system: Any = select  # what it has depends on the system


class Ends(Protocol):
    """Follows processes by their numbers. It is used by one thread."""

    @property
    def due(self) -> float | None:
        """When `ended` is to be called though nothing can be read, as `time.monotonic` counts."""

    def fileno(self) -> int:
        """Return a descriptor that can be read when a process has ended; -1 if there is none."""

    def follow(self, pids: Collection[int]) -> None:
        """Follow these processes and no others. Raises OSError if the system can follow no more."""

    def ended(self) -> set[int]:
        """Return the processes that have ended since they were followed, each one once."""

    def close(self) -> None: ...


class Looks:
    """Looks whether the processes are there, each second while some are followed."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._followed: set[int] = set()
        self._told: set[int] = set()
        self.due: float | None = None

    def fileno(self) -> int:
        return -1

    def follow(self, pids: Collection[int]) -> None:
        self._told &= set(pids)
        self._followed = set(pids) - self._told
        if not self._followed:
            self.due = None
        elif self.due is None:
            self.due = self._monotonic() + EVERY_S

    def ended(self) -> set[int]:
        now = self._monotonic()
        if self.due is None or now < self.due:
            return set()
        found = {pid for pid in self._followed if not _is_there(pid)}
        self._told |= found
        self._followed -= found
        self.due = now + EVERY_S if self._followed else None
        return found

    def close(self) -> None:
        self._followed.clear()


class Pidfds:
    """Waits for descriptors of processes, which Linux has: pidfd_open(2)."""

    due: float | None = None

    def __init__(self) -> None:
        self._poll = _system.epoll()
        self._fd_of: dict[int, int] = {}
        self._told: set[int] = set()
        self._at_once: set[int] = set()  # had ended before they were followed

    def fileno(self) -> int:
        return int(self._poll.fileno())

    def follow(self, pids: Collection[int]) -> None:
        wanted = set(pids)
        self._told &= wanted
        for pid in self._fd_of.keys() - wanted:
            self._leave(pid)
        for pid in wanted - self._fd_of.keys() - self._told:
            try:
                fd = os.pidfd_open(pid)
            except ProcessLookupError:
                self._at_once.add(pid)
                continue
            self._fd_of[pid] = fd
            self._poll.register(fd, select.POLLIN)
        # Nothing can be read for these: whoever follows them asks `due`.
        self.due = 0.0 if self._at_once else None

    def ended(self) -> set[int]:
        found, self._at_once, self.due = self._at_once, set(), None
        ready = {fd for fd, _event in self._poll.poll(0)}
        found |= {pid for pid, fd in self._fd_of.items() if fd in ready}
        for pid in found & self._fd_of.keys():
            self._leave(pid)
        self._told |= found
        return found

    def close(self) -> None:
        for pid in tuple(self._fd_of):
            self._leave(pid)
        self._poll.close()

    def _leave(self, pid: int) -> None:
        fd = self._fd_of.pop(pid)
        with suppress(OSError):  # the system had no room to wait for it
            self._poll.unregister(fd)
        os.close(fd)


class KqueueEnds:
    """Waits for the ends of processes by kqueue(2)."""

    due: float | None = None

    def __init__(self) -> None:
        self._queue = _system.kqueue()
        self._followed: set[int] = set()
        self._told: set[int] = set()
        self._at_once: set[int] = set()

    def fileno(self) -> int:
        return int(self._queue.fileno())

    def follow(self, pids: Collection[int]) -> None:
        wanted = set(pids)
        self._told &= wanted
        self._followed &= wanted
        for pid in wanted - self._followed - self._told:
            flags = _system.KQ_EV_ADD | _system.KQ_EV_ONESHOT
            event = _system.kevent(pid, _system.KQ_FILTER_PROC, flags, _system.KQ_NOTE_EXIT)
            try:
                self._queue.control([event], 0)
            except ProcessLookupError:
                self._at_once.add(pid)
                continue
            self._followed.add(pid)
        self.due = 0.0 if self._at_once else None

    def ended(self) -> set[int]:
        found, self._at_once, self.due = self._at_once, set(), None
        while events := self._queue.control(None, 64, 0):
            found |= {event.ident for event in events} & self._followed
        self._followed -= found
        self._told |= found
        return found

    def close(self) -> None:
        self._queue.close()


class EndsOfProcesses:
    """The best way there is, and looks from when that one can no more."""

    def __init__(self) -> None:
        self._ends: Ends = open_ends()

    @property
    def due(self) -> float | None:
        return self._ends.due

    def fileno(self) -> int:
        return self._ends.fileno()

    def follow(self, pids: Collection[int]) -> None:
        try:
            self._ends.follow(pids)
        except OSError:
            self._ends.close()
            self._ends = Looks()
            self._ends.follow(pids)

    def ended(self) -> set[int]:
        return self._ends.ended()

    def close(self) -> None:
        self._ends.close()


def open_ends() -> Ends:
    """Return the best way that this system has."""
    for kind in (Pidfds, KqueueEnds):
        try:
            found = kind()
            if kind is Pidfds:
                os.close(os.pidfd_open(os.getpid()))  # older kernels and some sandboxes refuse it
        except (OSError, AttributeError):
            continue
        return found
    return Looks()


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
