"""Work on a directory tree through descriptors, one name at a time, without following symlinks."""

import errno
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from siding.ground.files.durable import flush, flush_names
from siding.ground.git.paths import is_under

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READABLE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KEPT_OPEN = 32
_FLUSHED_SINGLY = 200  # more than this are flushed by one sync of everything


class OpenTree:
    """Directories below a root, named by paths relative to it; ``b""`` is the root.

    Descriptors are kept for the directories used last and belong to the tree: use one before
    asking for the next, and never close it. A symlink on the way raises NotADirectoryError.

    ``made`` are the directories that `make` made. With `private` these are their owner's alone,
    until somebody gives them the mode they shall have. ``unlocked`` are directories that forbade
    writing and were opened for it, with the mode they had; without `unlock` none is.
    """

    def __init__(self, root: Path, *, private: bool = False, unlock: bool = True) -> None:
        self._root = os.open(root, _DIRECTORY)
        self._open: dict[bytes, int] = {}
        self._new = 0o700 if private else 0o777
        self._unlock = unlock
        self.made: list[bytes] = []
        self.unlocked: dict[bytes, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.forget(b"")
        os.close(self._root)

    def open(self, path: bytes) -> int:
        """Return a descriptor of a directory; raise FileNotFoundError or NotADirectoryError."""
        if not path:
            return self._root
        found = self._open.get(path)
        if found is None:
            above, name = os.path.split(path)
            parent = self.open(above)
            try:
                found = os.open(name, _DIRECTORY, dir_fd=parent)
            except OSError as error:
                if error.errno == errno.ELOOP:  # how some systems refuse to follow a link
                    raise NotADirectoryError(errno.ENOTDIR, error.strerror, path) from error
                raise
            self._keep(path, found)
        return found

    def make(self, path: bytes) -> int:
        """Return a descriptor of a directory that is made if it is not there; names may be
        changed in it."""
        try:
            return self.writable(path)
        except FileNotFoundError:
            pass
        above, name = os.path.split(path)
        parent = self.make(above)
        os.mkdir(name, self._new, dir_fd=parent)
        flush_names(parent)
        self.made.append(path)
        return self.open(path)

    def writable(self, path: bytes) -> int:
        """Return a descriptor of a directory in which names may be changed from now on."""
        fd = self.open(path)
        mode = stat.S_IMODE(os.fstat(fd).st_mode)
        if self._unlock and mode & 0o300 != 0o300:
            with suppress(PermissionError):  # not ours: then what follows says so
                os.fchmod(fd, mode | 0o700)
                self.unlocked.setdefault(path, mode)
        return fd

    def mode(self, path: bytes) -> int | None:
        """Return type and permissions of what is at the path, None when nothing is."""
        if not path:
            return os.fstat(self._root).st_mode
        above, name = os.path.split(path)
        try:
            return os.stat(name, dir_fd=self.open(above), follow_symlinks=False).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None

    def set_mode(self, path: bytes, mode: int) -> None:
        """Change the permissions of a file or directory, never those of what a link leads to."""
        if not path:
            os.fchmod(self._root, mode)
            return
        above, name = os.path.split(path)
        parent = self.open(above)
        try:
            os.chmod(name, mode, dir_fd=parent, follow_symlinks=False)
        except NotImplementedError:  # this system can do so only through a descriptor
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
            try:
                os.fchmod(fd, mode)
            finally:
                os.close(fd)

    def lock_again(self) -> None:
        """Give the directories that were opened for writing the modes they had."""
        for path, mode in self.unlocked.items():
            with suppress(FileNotFoundError, NotADirectoryError):
                self.set_mode(path, mode)
        self.unlocked.clear()

    def exists(self, path: bytes) -> bool:
        """Tell whether something is at the path, a dangling link included."""
        return self.mode(path) is not None

    def is_directory(self, path: bytes) -> bool:
        """Tell whether a directory, not a link to one, is at the path."""
        mode = self.mode(path)
        return mode is not None and stat.S_ISDIR(mode)

    def listing(self, directory: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield what is in a directory, as path and whether that is a directory."""
        for name in sorted(map(os.fsencode, os.listdir(self.open(directory)))):
            path = os.path.join(directory, name)
            yield path, self.is_directory(path)

    def flush(self, directories: Collection[bytes]) -> None:
        """Flush the names in these directories; one that is gone is fine."""
        for path in sorted(directories):
            try:
                flush_names(self.open(path))
            except (FileNotFoundError, NotADirectoryError):
                continue

    def flush_modes(self, paths: Collection[bytes]) -> None:
        """Flush the permissions of files and directories; what cannot be read cannot be."""
        if len(paths) > _FLUSHED_SINGLY:
            os.sync()
            return
        for path in paths:
            above, name = os.path.split(path)
            try:
                fd = os.open(name or b".", _READABLE, dir_fd=self.open(above))
            except OSError:
                continue
            try:
                flush(fd)
            finally:
                os.close(fd)

    def forget(self, path: bytes) -> None:
        """Close what is open at and below a path: the name means something else from now on."""
        for known in [known for known in self._open if is_under(known, path)]:
            os.close(self._open.pop(known))

    def _keep(self, path: bytes, fd: int) -> None:
        while len(self._open) >= _KEPT_OPEN:
            oldest = next(iter(self._open))
            os.close(self._open.pop(oldest))
        self._open[path] = fd
