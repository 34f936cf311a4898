"""Copy a workspace as it is now, with what git ignores, at a bounded cost.

The copy has blocks of its own, or shares them where the file system can: a command may write into
its files. What git ignores comes along, since `rm -rf build/` is about that. Ignored directories
that are too large stay out, and are seen read-only in their place; everything else has to fit.
"""

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.hashing import Sha256
from siding.ground.namedtuples import NamedTuple
from siding.record.files.index_entries import ignored_among
from siding.record.place.project import Project
from siding.record.tasks.registry import Workspace
from siding.tasks.carry import copy_entry

MOST_FILES = 20_000  # files and directories
MOST_BYTES = 512 << 20
_DEEPEST = 4  # levels at which ignored directories are looked for
_GIT = b".git"


class TooLarge(SidingError):
    """The workspace cannot be copied at a bounded cost."""

    code = "workspace_too_large"


class Stamp(NamedTuple):
    """What tells whether a file has changed. Of a directory only its mode counts."""

    mode: int
    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> "Stamp":
        if stat.S_ISDIR(found.st_mode):
            return cls(mode=found.st_mode, size=0, mtime_ns=0, inode=0)
        return cls(
            mode=found.st_mode,
            size=found.st_size,
            mtime_ns=found.st_mtime_ns,
            inode=found.st_ino,
        )


class Seen(NamedTuple):
    """The files and directories below a root by their paths, without `.git` at the root.

    `bytes` are those of the files. With `is_cut` there are more than were looked at.
    """

    stamps: dict[bytes, Stamp]
    bytes: int
    is_cut: bool = False

    @property
    def digest(self) -> str:
        """What stands for this state: another one has another digest."""
        digest = Sha256()
        for path in sorted(self.stamps):
            digest.update(path + b"\0" + repr(tuple(self.stamps[path])).encode() + b"\0")
        return digest.hexdigest()[:16]


class LeftOut(NamedTuple):
    """An ignored directory that stayed out of a copy, and how large it is, in words."""

    path: bytes
    much: str


class Copied(NamedTuple):
    """A copy: the workspace as it was seen before, and the directories that stayed out."""

    seen: Seen
    left_out: tuple[LeftOut, ...]


def look(root: Path, leave: Collection[bytes] = (), most: int = MOST_FILES) -> Seen:
    """Look at what is below a root, but for the directories to `leave` out; stop when it is cut.

    Raises OSError for a directory that cannot be read.
    """
    stamps: dict[bytes, Stamp] = {}
    size = 0
    for path, found in _below(os.fsencode(root), b"", leave):
        stamps[path] = Stamp.of(found)
        size += found.st_size if stat.S_ISREG(found.st_mode) else 0
        if len(stamps) > most or size > MOST_BYTES:
            return Seen(stamps, size, is_cut=True)
    return Seen(stamps, size)


def open_up(root: Path) -> None:
    """Make each directory of a copy readable: a command may have closed some."""
    level = [os.fsencode(root)]
    while level:
        directory = level.pop()
        os.chmod(directory, stat.S_IMODE(os.lstat(directory).st_mode) | 0o700)
        level += [e.path for e in _entries(directory) if e.is_dir(follow_symlinks=False)]


def copy_workspace(project: Project, workspace: Workspace, target: Path) -> Copied:
    """Copy a workspace into the directory `target`, which is there and empty.

    Raises TooLarge, and OSError for what cannot be read or written.
    """
    root = Path(workspace.path)
    left_out = _too_large(project, workspace)
    leave = [each.path for each in left_out]
    seen = look(root, leave)
    if seen.is_cut:
        raise TooLarge(f"the workspace has {_much(seen)}, too many to copy")
    source, into = os.fsencode(root), os.fsencode(target)
    directories: list[tuple[bytes, int]] = []
    for path, stamp in seen.stamps.items():
        try:
            if stat.S_ISDIR(stamp.mode):
                os.mkdir(os.path.join(into, path), 0o700)
                directories.append((path, stat.S_IMODE(stamp.mode)))
            else:
                copy_entry(os.path.join(source, path), os.path.join(into, path))
        except FileNotFoundError:
            continue  # it has just been removed: the digest says that the state is another one
    for path in leave:
        os.makedirs(os.path.join(into, path), exist_ok=True)
    for path, mode in reversed(directories):
        os.chmod(os.path.join(into, path), mode)
    return Copied(seen, left_out)


def _too_large(project: Project, workspace: Workspace) -> tuple[LeftOut, ...]:
    """Return the ignored directories that do not fit. Raises TooLarge if the rest does not."""
    root = Path(workspace.path)
    whole = look(root)
    if not whole.is_cut:
        return ()
    ignored = _ignored(project, workspace)
    rest = look(root, ignored)
    if rest.is_cut:
        raise TooLarge(f"the workspace has {_much(rest)}, too many to copy")
    files, size = len(rest.stamps), rest.bytes
    left_out: list[LeftOut] = []
    sizes = {path: look(root / os.fsdecode(path)) for path in ignored}
    for path, seen in sorted(sizes.items(), key=lambda each: len(each[1].stamps)):
        fits = files + len(seen.stamps) <= MOST_FILES and size + seen.bytes <= MOST_BYTES
        if seen.is_cut or not fits:
            left_out.append(LeftOut(path, _much(seen)))
        else:
            files, size = files + len(seen.stamps), size + seen.bytes
    return tuple(left_out)


def _ignored(project: Project, workspace: Workspace) -> tuple[bytes, ...]:
    """Return the outermost directories that git ignores, a few levels down."""
    root, level, found = os.fsencode(workspace.path), [b""], []
    for _ in range(_DEEPEST):
        below = [
            os.path.join(directory, entry.name)
            for directory in level
            for entry in _entries(os.path.join(root, directory))
            if entry.is_dir(follow_symlinks=False) and (directory or entry.name != _GIT)
        ]
        if not below:
            break
        ignored = ignored_among(
            project.snapshots, workspace.task_id, Path(workspace.path), below[:MOST_FILES]
        )
        found += [path for path in below if path in ignored]
        level = [path for path in below if path not in ignored]
    return tuple(found)


def _much(seen: Seen) -> str:
    """Return how much there is, in words; of what was not looked at to its end, at least."""
    if seen.bytes > MOST_BYTES:
        return f"at least {MOST_BYTES >> 20} MiB"
    return f"at least {MOST_FILES:,} files" if seen.is_cut else f"{len(seen.stamps):,} files"


def _below(
    root: bytes, directory: bytes, leave: Collection[bytes]
) -> Iterator[tuple[bytes, os.stat_result]]:
    """Yield what is below a directory, each directory before what is in it."""
    for entry in _entries(os.path.join(root, directory)):
        path = os.path.join(directory, entry.name)
        if path == _GIT or path in leave:
            continue
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
            yield path, found
        elif stat.S_ISDIR(found.st_mode):
            yield path, found
            yield from _below(root, path, leave)


def _entries(directory: bytes) -> "list[os.DirEntry[bytes]]":
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
