"""The list of the entries in a directory of displaced files.

One record an entry, each ended by a NUL byte, with single spaces::

    <entry> <mode> <blob> <new blob> <before> <new> TAB <path>

The first blob is what is recorded of the path before, the new one what is put there; zeros:
nothing. ``before`` and ``new`` are the inode, the size and the modification time (ns) of the file
in its place and of the staged one, joined by colons; ``-`` if there was none or nobody looked.
They tell versions apart whose blobs need git's filters.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.ground.files.durable import flush, write_all
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.patches import Change

NAMES = b"names"
_PARTIAL = b"names.new"
UNKNOWN = "-"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


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
    fd = os.open(_PARTIAL, _NEW, 0o600, dir_fd=directory)
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
