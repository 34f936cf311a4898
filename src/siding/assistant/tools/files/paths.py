"""The files that the tools open: where a path leads, and holding it there.

A path is resolved when a call is about to be judged (`Paths.touch`) and again when the call runs.
Its directory is then opened, the kernel is asked which directory that is, and all further steps
name files in the open directory: a link that is exchanged meanwhile leads nowhere else. Writing is
held to the workspace and the extra directories. Reading is not: the rules and the policy decide
about it by what `touch` says. So a path that leads elsewhere than it did then is not read.
"""

import errno
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path

from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Use
from siding.ground.files.exchange import Entry
from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import Effect, ToolUse

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_NAMES = 5000  # in a directory that is searched for a like one
_GET_PATH = 50  # fcntl F_GETPATH of macOS


class PathRefused(Exception):
    """A path cannot be used; the text tells the model why and what to do."""


class Opened(NamedTuple):
    """A name in an open directory, and the path that both had when the directory was opened."""

    entry: Entry
    real: Path

    def open(self, flags: int, mode: int = 0o666) -> int:
        """Open the file; a final link is not followed, a pipe does not block."""
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        return os.open(self.entry.name, flags, mode, dir_fd=self.entry.directory)

    def status(self) -> os.stat_result | None:
        """Return the status of what is there, None if nothing is."""
        try:
            return os.stat(self.entry.name, dir_fd=self.entry.directory, follow_symlinks=False)
        except FileNotFoundError:
            return None


class Paths:
    """Resolves what a model calls a path: relative to the workspace, absolute, or with ``~``."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._told: dict[Path, Path] = {}  # where paths led when calls with them were judged

    def named(self, given: str) -> Path:
        """Return the absolute path, not resolved. Raises PathRefused."""
        if "\0" in given:
            raise PathRefused("A path cannot have a NUL character in it.")
        if given == "~" or given.startswith("~/"):
            return Path(os.path.normpath(self._place.home / given[2:]))
        # What `..` means after a link is found out when it is resolved, so it stays.
        return Path(self._place.workspace, given or ".")

    def use(self, tool: str, effect: Effect, given: str) -> Use:
        """Return what a call with one path is about to do.

        The pattern is the path as it is named, from the workspace; what is touched is where it
        leads, with all links resolved.
        """
        try:
            path = self.named(given)
        except PathRefused:
            return Use(given, touches=ToolUse(tool, ((effect, given),)), text=tool)
        real = _real(path)
        self._told[path] = real
        shown = self.shown(path)
        touches = ToolUse(tool, ((effect, str(real)),))
        return Use(shown, touches=touches, text=f"{tool} {shown}")

    def shown(self, path: Path) -> str:
        """Return the path from the workspace if it is in there, as it is named."""
        normal = Path(os.path.normpath(path))
        try:
            return str(normal.relative_to(self._place.workspace))
        except ValueError:
            return str(normal)

    def is_writable(self, real: Path) -> bool:
        """Tell whether a resolved path may be changed."""
        return any(real.is_relative_to(root) and real != root for root in self._place.roots)

    @contextmanager
    def to_read(self, given: str) -> Iterator[Opened]:
        """Open the directory of a file to be read. Raises PathRefused and OSError."""
        with self._opened(self.as_judged(given)) as opened:
            yield opened

    def as_judged(self, given: str) -> Path:
        """Return where a path leads. Raises PathRefused if it led elsewhere when it was judged."""
        path = self.named(given)
        real = _real(path)
        if self._told.get(path, real) != real:
            raise PathRefused(
                f"{given} leads elsewhere than when the call was judged, so it was not read. "
                "Try again."
            )
        return real

    @contextmanager
    def to_write(self, given: str) -> Iterator[Opened]:
        """Open the directory of a file to be written; make it if it is not there.

        Raises PathRefused if it lies outside the directories that may be changed, and OSError.
        """
        real = _real(self.named(given))
        if not self.is_writable(real):
            raise PathRefused(self._outside(given, real))
        directory = self._made(real.parent)
        try:
            yield Opened(Entry(directory, os.fsencode(real.name)), real)
        finally:
            os.close(directory)

    def _made(self, path: Path) -> int:
        """Open a directory, from the one that may be changed down, and make what is missing.

        A resolved path has no links, so none is followed.
        """
        root = next(each for each in self._place.roots if path.is_relative_to(each))
        directory = os.open(root, _DIRECTORY)
        for name in path.relative_to(root).parts:
            above = directory
            try:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=above)
                directory = os.open(name, _DIRECTORY, dir_fd=above)
            finally:
                os.close(above)
        return directory

    def similar(self, given: str) -> str:
        """Return a hint at files with a like name in the same directory; "" if there is none."""
        try:
            path = _real(self.named(given))
            names = os.listdir(path.parent)
        except (PathRefused, OSError):
            return ""
        if path.name in names or len(names) > _MOST_NAMES:
            return ""
        stem = path.stem.lower()
        found = [name for name in names if Path(name).stem.lower() == stem]
        found = found or get_close_matches(path.name, names, n=3)
        return f" Did you mean {', '.join(sorted(found)[:3])}?" if found else ""

    def _outside(self, given: str, real: Path) -> str:
        roots = ", ".join(map(str, self._place.roots))
        leads = "" if str(real) == given else f" (it leads to {real})"
        return f"{given} cannot be changed{leads}: files are changed only below {roots}."

    @contextmanager
    def _opened(self, real: Path) -> Iterator[Opened]:
        directory = os.open(real.parent, _DIRECTORY)
        try:
            where = _path_of(directory) or Path(os.path.realpath(real.parent))
            if where != real.parent:
                raise PathRefused(f"{real.parent} is being exchanged for {where}. Try again.")
            yield Opened(Entry(directory, os.fsencode(real.name)), real)
        finally:
            os.close(directory)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _path_of(directory: int) -> Path | None:
    """Ask the kernel for the path of an open directory; None where it does not tell."""
    try:
        if sys.platform == "darwin":
            raw = fcntl.fcntl(directory, _GET_PATH, bytes(1024))
            return Path(os.fsdecode(raw.rstrip(b"\0")))
        return Path(os.readlink(f"/proc/self/fd/{directory}"))
    except OSError:
        return None


def explained(error: OSError, given: str) -> str:
    """Return what to tell the model of an error with a path."""
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return f"{given} does not exist."
        case errno.ELOOP:
            return f"{given} is a link that leads round in a circle, or was just exchanged."
        case errno.EACCES | errno.EPERM:
            return f"{given}: permission denied."
        case errno.EROFS:
            return f"{given} is on a file system that cannot be written."
        case errno.ENOSPC | errno.EDQUOT:
            return f"{given}: no space is left on the device; nothing was changed."
        case errno.ENAMETOOLONG:
            return f"{given}: the name is too long."
    return f"{given}: {error.strerror or error}."
