"""A watch by kqueue(2), where there is one: macOS and the BSDs.

A directory tells that its entries changed, and not which. It tells nothing of a file that grows in
place, so journals, which are appended to, are followed themselves. Each of both costs a descriptor;
when there are none left, stamps are read.
"""

import errno
import os
import select
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from siding.feed.watch import Hints

_GROWS = ".jsonl"
_AT_ONCE = 256  # events that are taken with one call
_PASSED_OVER = {errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG}
# For opening a thing that is only watched: it keeps no disk from being taken out. macOS has it.
_EVENTS_ONLY = getattr(os, "O_EVTONLY", os.O_RDONLY) | os.O_CLOEXEC | os.O_NONBLOCK

_system: Any = select  # its names for kqueue are not there on Linux, where this is checked


class Kqueue:
    """Follows directories. Raises AttributeError where the system has no kqueue."""

    slow = ""
    due: float | None = None

    def __init__(self) -> None:
        self._queue = _system.kqueue()
        self._fd_of: dict[Path, int] = {}
        self._path_of: dict[int, Path] = {}
        self._directories: set[Path] = set()
        self._gone = _system.KQ_NOTE_DELETE | _system.KQ_NOTE_RENAME | _system.KQ_NOTE_REVOKE
        self._asked = self._gone | _system.KQ_NOTE_WRITE | _system.KQ_NOTE_EXTEND

    def fileno(self) -> int:
        return int(self._queue.fileno())

    def follow(self, directories: Collection[Path]) -> set[Path]:
        wanted = set(directories)
        for path in tuple(self._fd_of):
            if path not in wanted and path.parent not in wanted:
                self._leave(path)
        self._directories &= wanted
        new = {path for path in wanted - self._directories if self._add(path, os.O_DIRECTORY)}
        self._directories |= new
        for path in new:
            self._follow_journals(path)
        return new

    def hints(self) -> Hints:
        found: set[Path] = set()
        while events := self._queue.control(None, _AT_ONCE, 0):
            for event in events:
                path = self._path_of.get(event.ident)
                if path is None:
                    continue
                found.add(path)
                if event.fflags & self._gone:
                    self._forget_below(path)
                elif path in self._directories:
                    self._follow_journals(path)
        return Hints(frozenset(found))

    def close(self) -> None:
        for path in tuple(self._fd_of):
            self._leave(path)
        self._queue.close()

    def _follow_journals(self, directory: Path) -> None:
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            for name in os.listdir(directory):
                if name.endswith(_GROWS):
                    self._add(directory / name)

    def _add(self, path: Path, flags: int = 0) -> bool:
        if path in self._fd_of:
            return False
        try:
            fd = os.open(path, _EVENTS_ONLY | flags)
        except OSError as error:
            if error.errno in _PASSED_OVER:
                return False
            raise
        self._fd_of[path], self._path_of[fd] = fd, path
        flags = _system.KQ_EV_ADD | _system.KQ_EV_CLEAR
        event = _system.kevent(fd, _system.KQ_FILTER_VNODE, flags, self._asked)
        self._queue.control([event], 0)
        return True

    def _leave(self, path: Path) -> None:
        fd = self._fd_of.pop(path)
        del self._path_of[fd]
        os.close(fd)  # with that the queue forgets it

    def _forget_below(self, path: Path) -> None:
        for each in [each for each in self._fd_of if each == path or path in each.parents]:
            self._leave(each)
            self._directories.discard(each)
