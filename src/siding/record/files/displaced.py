"""What a restoration took out of the worktree, until `siding gc` removes it.

The staged contents of a restoration are exchanged with the files in the worktree. So the staging
directory holds these files afterwards: the inodes themselves, so that a process that had one open
goes on storing into it. A list of the entries is beside them::

    displaced/
      names          what each entry is (`displaced_list.py`)
      0, 1, ...      a displaced file; until its turn came, the content to put into its place
      kept/<path>    versions that no snapshot holds, under the paths that they had

"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from siding.ground.files.attributes import has_writer
from siding.ground.files.durable import flush, flush_names, write_all
from siding.ground.git.paths import REGULAR, SYMLINK, parents, quote_path
from siding.ground.git.treewalk import OpenTree
from siding.ground.hashing import new_digest
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.patches import Change

NAMES = b"names"
_PARTIAL = b"names.new"
UNKNOWN = "-"
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
DISPLACED = "displaced"  # the directory in a place in the trash
KEPT = "kept"
CONTENTS = b"contents"  # all staged contents in one file, until each has its own
_READABLE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Listed(NamedTuple):
    """A record of the list."""

    entry: bytes
    mode: str
    sha: str
    new_sha: str
    before: str
    new: str
    path: bytes

    @property
    def is_deletion(self) -> bool:
        return not self.new_sha.strip("0")


def entry_name(number: int) -> bytes:
    """Return the name of an entry: writes are counted first, then deletions."""
    return b"%d" % number


def identity_at(path: bytes) -> str:
    """Return what tells one version of a file from another; `UNKNOWN` if nothing is there.

    An exchange does not change it.
    """
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return UNKNOWN
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


def write_names(
    directory: int,
    changes: Sequence[Change],
    *,
    before: Mapping[bytes, str] | None = None,
    new: Mapping[bytes, str] | None = None,
) -> None:
    """Write the list of the entries of `changes` into the open directory, whole or not at all.

    Its content is flushed, its name is not. `before` and `new` are identities by path.
    """
    there, staged = before or {}, new or {}
    records = [
        b"%b\t%b\0" % (_about(number, each, there, staged).encode("ascii"), each.path)
        for number, each in enumerate(changes)
    ]
    fd = os.open(_PARTIAL, _NEW_FILE, 0o600, dir_fd=directory)
    try:
        write_all(fd, b"".join(records))
        flush(fd)
    finally:
        os.close(fd)
    os.rename(_PARTIAL, NAMES, src_dir_fd=directory, dst_dir_fd=directory)


def _about(
    number: int, change: Change, before: Mapping[bytes, str], new: Mapping[bytes, str]
) -> str:
    known = f"{before.get(change.path, UNKNOWN)} {new.get(change.path, UNKNOWN)}"
    return f"{number} {change.old_mode} {change.old_sha} {change.new_sha} {known}"


def read_names(directory: Path) -> dict[bytes, Listed]:
    """Return the records of the list by entry; none if there is no list."""
    try:
        data = (directory / os.fsdecode(NAMES)).read_bytes()
    except FileNotFoundError:
        return {}
    found = {}
    for record in data.split(b"\0")[:-1]:
        about, _, path = record.partition(b"\t")
        words = about.decode("ascii", "replace").split(" ")
        if len(words) == 6:
            number, mode, sha, new_sha, before, new = words
            entry = os.fsencode(number)
            found[entry] = Listed(entry, mode, sha, new_sha, before, new, path)
    return found


def blob_at(full: bytes, object_format: str, mode: str) -> str | None:
    """Return the blob id of a file's or symlink's content; None if it is not of the kind `mode`."""
    found = os.lstat(full)
    if stat.S_ISLNK(found.st_mode):
        if mode != SYMLINK:
            return None
        data = os.readlink(full)
        digest = new_digest(object_format, len(data))
        digest.update(b"blob %d\0" % len(data))
        digest.update(data)
        return digest.hexdigest()
    if not stat.S_ISREG(found.st_mode) or mode == SYMLINK:
        return None
    fd = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        size = os.fstat(fd).st_size
        digest = new_digest(object_format, size)
        digest.update(b"blob %d\0" % size)
        while block := os.read(fd, 1 << 20):
            digest.update(block)
    finally:
        os.close(fd)
    return digest.hexdigest()


class Why(StrEnum):
    """Why a displaced file is kept under its name."""

    CHANGED = "written meanwhile"
    WRITING = "still open for writing"


class KeptFile(NamedTuple):
    """A displaced version that no snapshot holds, or that may still change."""

    path: bytes
    why: Why


def keep_unrecorded(directory: Path, object_format: str) -> list[KeptFile]:
    """Give each displaced version that no snapshot holds its name, below ``kept``; return these.

    So are files that a process has open for writing: what it stores is found there. Each file is
    read once. Safe to repeat; the names are durable on return.
    """
    found = list(_unrecorded(directory, object_format))
    if not found:
        return []
    kept = directory / KEPT
    kept.mkdir(mode=0o700, exist_ok=True)
    with OpenTree(directory) as source, OpenTree(kept, private=True) as target:
        moved = []
        for entry, each in found:
            above, name, path = _free(target, each.path)
            os.rename(entry, name, src_dir_fd=source.open(b""), dst_dir_fd=above)
            moved.append(each._replace(path=path))
        target.flush({above for each in moved for above in (*parents(each.path), b"")})
        flush_names(source.open(b""))
    return moved


def drop_recorded(directory: Path, object_format: str, held: AbstractSet[str]) -> int:
    """Delete displaced files whose blob is one of `held`; return their bytes on disk.

    A file that a program has open for writing stays.
    """
    freed = 0
    with OpenTree(directory) as tree:
        for entry, known in list(_entries(directory)):
            full = os.path.join(os.fsencode(directory), entry)
            if not {known.sha, known.new_sha} <= held or _why_kept(full, known, object_format):
                continue
            freed += os.lstat(full).st_blocks * 512  # POSIX counts in units of 512 bytes
            os.unlink(entry, dir_fd=tree.open(b""))
        with suppress(FileNotFoundError):  # of an act that was killed while it staged
            os.unlink(CONTENTS, dir_fd=tree.open(b""))
        flush_names(tree.open(b""))
    return freed


def names_of(kept: Sequence[KeptFile], place: str) -> tuple[str, ...]:
    """Return where kept versions are, as text; `place` is the directory above ``displaced``."""
    above = os.fsencode(f"{place}/{DISPLACED}/{KEPT}/")
    return tuple(quote_path(above + each.path) for each in kept)


def remove_if_empty(directory: Path) -> bool:
    """Remove the directory if nothing was displaced into it; return whether it is gone."""
    if any(name != NAMES for name in os.listdir(os.fsencode(directory))):
        return False
    (directory / os.fsdecode(NAMES)).unlink(missing_ok=True)
    directory.rmdir()
    with suppress(OSError):  # ignored files may lie beside it
        directory.parent.rmdir()
    return True


def _unrecorded(directory: Path, object_format: str) -> Iterator[tuple[bytes, KeptFile]]:
    for entry, known in _entries(directory):
        why = _why_kept(os.path.join(os.fsencode(directory), entry), known, object_format)
        if why is not None:
            yield entry, KeptFile(known.path, why)


def _entries(directory: Path) -> Iterator[tuple[bytes, Listed]]:
    """Yield the entries that are there, with what the list says of them."""
    if not directory.is_dir():
        return
    listed = read_names(directory)
    for entry in sorted(os.listdir(os.fsencode(directory))):
        known = listed.get(entry.partition(b".")[0])
        if known is not None:
            yield entry, known


def _why_kept(full: bytes, known: Listed, object_format: str) -> Why | None:
    """Return why a version has to be kept; None if the snapshots hold it and nobody writes it."""
    found = os.lstat(full)
    if stat.S_ISREG(found.st_mode) and _is_open_for_writing(full):
        return Why.WRITING
    mode = SYMLINK if stat.S_ISLNK(found.st_mode) else REGULAR
    try:
        blob = blob_at(full, object_format, mode)
    except OSError:  # somebody has made it unreadable
        return Why.CHANGED
    if blob in (known.sha, known.new_sha) or identity_at(full) in (known.before, known.new):
        return None
    return Why.CHANGED


def _is_open_for_writing(full: bytes) -> bool:
    """Tell whether a process has the file open for writing. False where nobody knows."""
    try:
        fd = os.open(full, _READABLE)
    except OSError:  # without permission to read
        return False
    try:
        return has_writer(fd) is True
    finally:
        os.close(fd)


def _free(target: OpenTree, path: bytes) -> tuple[int, bytes, bytes]:
    """Return a free place for a path: a descriptor of its directory, its name there, its path.

    If several versions of a path are kept, or one is where another's directory would be, the
    later ones are below a directory with a number.
    """
    number, candidate = 1, path
    while True:
        above, name = os.path.split(candidate)
        with suppress(FileExistsError, NotADirectoryError):
            directory = target.make(above)
            if not target.exists(candidate):
                return directory, name, candidate
        number += 1
        candidate = b"%d/%b" % (number, path)
