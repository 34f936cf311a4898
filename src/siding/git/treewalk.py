"""A directory tree worked on through descriptors, one name at a time, following no link."""

import errno
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from siding.git.paths import is_under

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_KEPT_OPEN = 32


class Tree:
    """Directories below a root, named by paths relative to it; ``b""`` is the root.

    Descriptors are kept for the directories used last and belong to the tree: use one before
    asking for the next, and never close it. A symlink on the way raises NotADirectoryError.
    """

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, _DIRECTORY)
        self._open: dict[bytes, int] = {}

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
        """Return a descriptor of a directory that is made if it is not there."""
        try:
            return self.open(path)
        except FileNotFoundError:
            pass
        above, name = os.path.split(path)
        parent = self.make(above)
        os.mkdir(name, dir_fd=parent)
        os.fsync(parent)
        return self.open(path)

    def exists(self, path: bytes) -> bool:
        """Tell whether something is at the path, a dangling link included."""
        return self._mode(path) is not None

    def is_directory(self, path: bytes) -> bool:
        """Tell whether a directory, not a link to one, is at the path."""
        mode = self._mode(path)
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
                os.fsync(self.open(path))
            except (FileNotFoundError, NotADirectoryError):
                continue

    def forget(self, path: bytes) -> None:
        """Close what is open at and below a path: the name means something else from now on."""
        for known in [known for known in self._open if is_under(known, path)]:
            os.close(self._open.pop(known))

    def _mode(self, path: bytes) -> int | None:
        above, name = os.path.split(path)
        try:
            return os.stat(name, dir_fd=self.open(above), follow_symlinks=False).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _keep(self, path: bytes, fd: int) -> None:
        while len(self._open) >= _KEPT_OPEN:
            oldest = next(iter(self._open))
            os.close(self._open.pop(oldest))
        self._open[path] = fd
