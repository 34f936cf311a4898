"""Check an index that a sandboxed run wrote, before it becomes the workspace's index.

git trusts an index: with a path such as ``../x`` the next ``git restore`` writes outside the
checkout, and an entry for a missing object makes ``git gc`` fail. So every entry is checked here.
Extensions are dropped: they only save time, and may name objects too.
"""

import struct
from collections.abc import Iterator, Sequence

from siding.ground.hashing import new_digest
from siding.ground.namedtuples import NamedTuple

_EXTENDED, _NAME_MASK, _STAGE = 0x4000, 0x0FFF, 0x3000
_FILES = frozenset({0o100644, 0o100755, 0o120000})
_GITLINK = 0o160000
_STAT_BYTES = 40  # ten numbers stand before the object id
_MODE_AT = 24


class BadIndex(ValueError):
    """The index cannot be used; the message says why."""


class UsableIndex(NamedTuple):
    """An index without extensions, and the blobs that it names."""

    data: bytes
    blobs: frozenset[str]


class _Entry(NamedTuple):
    path: bytes
    stage: int
    mode: int
    sha: str
    end: int  # where the next one begins


def check_index(data: bytes, hash_bytes: int) -> UsableIndex:
    """Return the index without extensions. Raises BadIndex if an entry is unsafe or it is
    damaged."""
    if len(data) < 12 + hash_bytes or data[:4] != b"DIRC":
        raise BadIndex("it is no index")
    version, count = struct.unpack_from(">II", data, 4)
    if version not in (2, 3, 4):
        raise BadIndex(f"its version is {version}")
    try:
        entries = list(_entries(data, version, count, hash_bytes))
    except (struct.error, ValueError, IndexError):
        raise BadIndex("it is cut off") from None
    _check(entries)
    end = entries[-1].end if entries else 12
    if end > len(data) - hash_bytes or data[end : end + 4] in (b"link", b"sdir"):
        raise BadIndex("a part of it lies elsewhere")
    kept = data[:end]
    digest = new_digest("sha1" if hash_bytes == 20 else "sha256", end)
    digest.update(kept)
    blobs = frozenset(entry.sha for entry in entries if entry.mode != _GITLINK)
    return UsableIndex(data=kept + digest.digest(), blobs=blobs)


def _entries(data: bytes, version: int, count: int, hash_bytes: int) -> Iterator[_Entry]:
    fixed = _STAT_BYTES + hash_bytes
    at, path = 12, b""
    for _ in range(count):
        (flags,) = struct.unpack_from(">H", data, at + fixed)
        (mode,) = struct.unpack_from(">I", data, at + _MODE_AT)
        name_at = at + fixed + (4 if flags & _EXTENDED else 2)
        if version == 4:  # a path is told by how much of the one before it is dropped
            dropped, name_at = _variable(data, name_at)
            end = data.index(b"\0", name_at)
            path = path[: len(path) - dropped] + data[name_at:end]
            following = end + 1
        else:
            length = flags & _NAME_MASK
            end = name_at + length if length < _NAME_MASK else data.index(b"\0", name_at)
            path = data[name_at:end]
            following = at + ((end - at + 8) & ~7)
        sha = data[at + _STAT_BYTES : at + fixed].hex()
        stage = (flags & _STAGE) >> 12
        yield _Entry(path=path, stage=stage, mode=mode, sha=sha, end=following)
        at = following


def _variable(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of git's variable length, and where it ends."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1


def _check(entries: Sequence[_Entry]) -> None:
    last: tuple[bytes, int] = (b"", -1)
    for entry in entries:
        if (entry.path, entry.stage) <= last:
            raise BadIndex("its entries are in no order")
        last = (entry.path, entry.stage)
        if entry.mode not in _FILES and entry.mode != _GITLINK:
            raise BadIndex(f"an entry has the mode {entry.mode:o}")
        for part in entry.path.split(b"/"):
            if part in (b"", b".", b"..") or part.lower() == b".git" or b"\0" in part:
                raise BadIndex("a path in it leads out of the workspace")
