"""A watch of directories by Linux' inotify(7), called through ctypes.

The kernel merges events that are alike, so an event says "look", and never how much there is. It
drops events when 16,384 wait (`max_queued_events`) and says so with IN_Q_OVERFLOW. A user may have
128 instances (`max_user_instances`), so each home has one hub that has one.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Collection, Iterator
from pathlib import Path

from siding.feed.watch import Hints

_MODIFY, _CLOSE_WRITE = 0x2, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_Q_OVERFLOW, _IGNORED, _ONLYDIR = 0x4000, 0x8000, 0x1000000
# A process that dies closes its files: what it had open for writing, as a lock, is told then.
_ENTRIES = _MODIFY | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_ASKED = _ENTRIES | _DELETE_SELF | _MOVE_SELF | _ONLYDIR
_HEAD = struct.Struct("iIII")  # watch, mask, cookie, length of the name with its padding
_READ = 64 << 10
_MOST_READS = 64  # in one call; what is left can be read still

# What one directory may have to be passed over for: it is gone, no directory, or not ours.
_PASSED_OVER = {errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG}

_libc = ctypes.CDLL(None, use_errno=True)


class Inotify:
    """Follows directories. Raises OSError if the user has no instance left."""

    slow = ""
    due: float | None = None

    def __init__(self) -> None:
        self._fd = _checked(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._watch_of: dict[Path, int] = {}
        # Two paths that lead to one directory have the same number.
        self._paths_of: dict[int, set[Path]] = {}

    def fileno(self) -> int:
        return self._fd

    def follow(self, directories: Collection[Path]) -> set[Path]:
        wanted = set(directories)
        for path in self._watch_of.keys() - wanted:
            self._leave(path)
        return {path for path in wanted - self._watch_of.keys() if self._add(path)}

    def hints(self) -> Hints:
        found: set[Path] = set()
        everything = False
        for number, mask, name in self._events():
            if mask & _Q_OVERFLOW:
                everything = True
                continue
            paths = self._paths_of.get(number, set())
            found |= {path / name if name else path for path in paths}
            if mask & (_IGNORED | _DELETE_SELF | _MOVE_SELF):
                for path in tuple(paths):
                    self._forget_below(path)
        return Hints(frozenset(found), everything)

    def close(self) -> None:
        os.close(self._fd)

    def _add(self, path: Path) -> bool:
        number = _libc.inotify_add_watch(self._fd, os.fsencode(path), _ASKED)
        if number < 0 and ctypes.get_errno() in _PASSED_OVER:
            return False
        self._watch_of[path] = _checked(number)
        self._paths_of.setdefault(number, set()).add(path)
        return True

    def _leave(self, path: Path) -> None:
        number = self._watch_of.pop(path)
        paths = self._paths_of[number]
        paths.discard(path)
        if not paths:
            del self._paths_of[number]
            _libc.inotify_rm_watch(self._fd, number)  # fails if the kernel has done it already

    def _forget_below(self, path: Path) -> None:
        """Forget a directory that is not at its path any more, and what was followed below it.

        Whoever still wants them follows what is there now.
        """
        for each in [each for each in self._watch_of if each == path or path in each.parents]:
            self._leave(each)

    def _events(self) -> Iterator[tuple[int, int, str]]:
        for _ in range(_MOST_READS):
            try:
                data = os.read(self._fd, _READ)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, mask, _cookie, length = _HEAD.unpack_from(data, at)
                at += _HEAD.size
                yield number, mask, os.fsdecode(data[at : at + length].rstrip(b"\0"))
                at += length


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
