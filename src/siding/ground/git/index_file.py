"""Read a git index file (versions 2 and 3) without starting git.

The layout is described in gitformat-index(5): a 12-byte header, entries, extensions, a hash.
"""

import os
import struct
from collections.abc import Collection
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.namedtuples import NamedTuple

_GITLINK = 0o160000
_ASSUME_VALID, _EXTENDED, _NAME_MASK = 0x8000, 0x4000, 0x0FFF
_STAGE = 0x3000
_SKIP_WORKTREE, _INTENT_TO_ADD = 0x4000, 0x2000  # of the second flags, which extended entries have
_WITHOUT_GIT = 1 << 20  # bytes of an index, about 10,000 entries: git is faster with a larger one
_PLAIN_EXTENSIONS = frozenset({b"TREE", b"REUC", b"EOIE", b"IEOT"})
_CACHES = frozenset({b"UNTR", b"FSMN"})  # what git remembers of the files on disk


class Exceptions(NamedTuple):
    """The entries of an index that are not like most: paths in conflict, in the order of the
    index, and paths that are excused from comparison (assume-unchanged or skip-worktree)."""

    unmerged: tuple[bytes, ...]
    excused: frozenset[bytes]


def exceptions_in(index: Path, hash_bytes: int) -> Exceptions | None:
    """Read an index and return its exceptions, much sooner than a process of git would.

    Returns None where git has to be asked: the file is large, or in a form not read here (another
    version, split, sparse), or damaged, or not readable at all. A missing index has no entries.
    """
    data = read_small(index, _WITHOUT_GIT)
    if data is None or len(data) == _WITHOUT_GIT:
        return None if os.path.lexists(index) else Exceptions((), frozenset())
    count = _count(data, hash_bytes)
    if count is None:
        return None
    fixed = 40 + hash_bytes
    unpack = struct.Struct(">H").unpack_from
    unmerged: dict[bytes, None] = {}
    excused: set[bytes] = set()
    at = 12
    try:
        for _ in range(count):
            (flags,) = unpack(data, at + fixed)
            name_at = at + fixed + (4 if flags & _EXTENDED else 2)
            length = flags & _NAME_MASK
            end = name_at + length if length < _NAME_MASK else data.index(b"\0", name_at)
            if flags & ~_NAME_MASK:
                more = unpack(data, at + fixed + 2)[0] if flags & _EXTENDED else 0
                if flags & _STAGE:
                    unmerged[data[name_at:end]] = None
                elif flags & _ASSUME_VALID or more & _SKIP_WORKTREE:
                    excused.add(data[name_at:end])
            at += (end - at + 8) & ~7
        known = _known_extensions(data, at, len(data) - hash_bytes, _PLAIN_EXTENSIONS | _CACHES)
    except (struct.error, ValueError):
        return None
    return Exceptions(tuple(unmerged), frozenset(excused)) if known else None


class IndexFacts(NamedTuple):
    """``plain``: every entry's state on disk can be told from this file alone: no entry is
    excused from comparison (assume-unchanged, skip-worktree, intent-to-add, a merge's stages),
    and no part lies in another file or with a file system monitor. ``gitlinks`` are the entries
    that stand for other repositories, with the commit each names."""

    plain: bool
    gitlinks: dict[bytes, str]
    has_attributes: bool


def read_facts(data: bytes, hash_bytes: int) -> IndexFacts | None:
    """Return the facts about an index; None if it is damaged or of another version."""
    count = _count(data, hash_bytes)
    if count is None:
        return None
    try:
        return _walk(data, count, hash_bytes)
    except (struct.error, ValueError):
        return None


def read_gitlinks(data: bytes, hash_bytes: int) -> dict[bytes, str]:
    """Return the gitlinks of an index that git just wrote. Fast where there are none."""
    if b"\0\0\xe0\0" not in data:  # the mode of a gitlink; other bytes may look so as well
        return {}
    facts = read_facts(data, hash_bytes)
    return facts.gitlinks if facts else {}


def read_entries(data: bytes, hash_bytes: int) -> dict[bytes, bytes] | None:
    """Return the entries as path (and stage) -> mode, object id and flags, without times and
    inodes.

    Returns None if the file is damaged or of another version.
    """
    count = _count(data, hash_bytes)
    if count is None:
        return None
    try:
        return _entries(data, count, 40 + hash_bytes)
    except (struct.error, ValueError):
        return None


def read_times(data: bytes, hash_bytes: int) -> dict[bytes, int] | None:
    """Return the inode change time of each entry, in seconds; None if the file cannot be read here.

    Gitlinks are left out. A time of 0 means that git has never looked at the file.
    """
    count = _count(data, hash_bytes)
    if count is None:
        return None
    fixed = 40 + hash_bytes
    unpack = struct.Struct(f">I20xI{fixed - 28}xH").unpack_from
    found = {}
    at = 12
    try:
        for _ in range(count):
            changed, mode, flags = unpack(data, at)
            name_at = at + fixed + (4 if flags & _EXTENDED else 2)
            length = flags & _NAME_MASK
            end = name_at + length if length < _NAME_MASK else data.index(b"\0", name_at)
            if mode != _GITLINK:
                found[data[name_at:end]] = changed
            at += (end - at + 8) & ~7
    except (struct.error, ValueError):
        return None
    return None if data[at : at + 4] == b"link" else found  # the rest lies in another file


class FlaggedEntry(NamedTuple):
    """An entry of stage 0 with flags. `mode` is octal text; `flags` are letters: ``a`` assume
    unchanged, ``i`` intent to add, ``s`` skip the worktree."""

    mode: str
    sha: str
    flags: str


def read_flagged(data: bytes, hash_bytes: int) -> dict[bytes, FlaggedEntry] | None:
    """Return the entries with flags; None if the file is damaged or of another version."""
    count = _count(data, hash_bytes)
    if count is None:
        return None
    fixed = 40 + hash_bytes
    unpack = struct.Struct(">H").unpack_from
    found: dict[bytes, FlaggedEntry] = {}
    at = 12
    try:
        for _ in range(count):
            (flags,) = unpack(data, at + fixed)
            name_at = at + fixed + (4 if flags & _EXTENDED else 2)
            length = flags & _NAME_MASK
            end = name_at + length if length < _NAME_MASK else data.index(b"\0", name_at)
            if flags & (_ASSUME_VALID | _EXTENDED) and not flags & _STAGE:
                more = unpack(data, at + fixed + 2)[0] if flags & _EXTENDED else 0
                letters = "a" if flags & _ASSUME_VALID else ""
                letters += "i" if more & _INTENT_TO_ADD else ""
                letters += "s" if more & _SKIP_WORKTREE else ""
                (mode,) = struct.unpack_from(">I", data, at + 24)
                sha = data[at + 40 : at + fixed].hex()
                if letters:
                    found[data[name_at:end]] = FlaggedEntry(f"{mode:06o}", sha, letters)
            at += (end - at + 8) & ~7
    except (struct.error, ValueError):
        return None
    return None if data[at : at + 4] == b"link" else found  # the rest lies in another file


def entry_count(header: bytes) -> int | None:
    """Return the number of entries of an index from its first 12 bytes; None if it is no index."""
    if len(header) < 12 or header[:4] != b"DIRC":
        return None
    count = struct.unpack_from(">I", header, 8)[0]
    return int(count)


def _count(data: bytes, hash_bytes: int) -> int | None:
    """Return the number of entries; None if it is no index, or of a version not read here."""
    if len(data) < 12 + hash_bytes or data[:4] != b"DIRC":
        return None
    version, count = struct.unpack_from(">II", data, 4)
    return int(count) if version in (2, 3) else None


def _entries(data: bytes, count: int, fixed: int) -> dict[bytes, bytes] | None:
    unpack_flags = struct.Struct(">H").unpack_from
    at = 12
    found = {}
    for _ in range(count):
        (flags,) = unpack_flags(data, at + fixed)
        name_at = at + fixed + (4 if flags & _EXTENDED else 2)
        length = flags & _NAME_MASK
        end = name_at + length if length < _NAME_MASK else data.index(b"\0", name_at)
        stage = (flags >> 12) & 3
        path = data[name_at:end] + (b"" if not stage else b" (stage %d)" % stage)
        found[path] = data[at + 24 : at + 28] + data[at + 40 : at + fixed]
        at += (end - at + 8) & ~7
    return None if data[at : at + 4] == b"link" else found  # the rest lies in another file


def _walk(data: bytes, count: int, hash_bytes: int) -> IndexFacts:
    fixed = 40 + hash_bytes  # ten 32-bit numbers and the object id stand before the flags
    at, plain, attributes = 12, True, False
    gitlinks: dict[bytes, str] = {}
    unpack_mode = struct.Struct(">I").unpack_from
    unpack_flags = struct.Struct(">H").unpack_from
    for _ in range(count):
        (flags,) = unpack_flags(data, at + fixed)
        name_at = at + fixed + 2
        if flags & ~_NAME_MASK:
            plain = False
            if flags & _EXTENDED:
                name_at += 2
        length = flags & _NAME_MASK
        end = name_at + length if length < _NAME_MASK else data.index(b"\0", name_at)
        if data.endswith(b".gitattributes", name_at, end):
            attributes = True
        (mode,) = unpack_mode(data, at + 24)
        if mode == _GITLINK:
            gitlinks[data[name_at:end]] = data[at + 40 : at + fixed].hex()
        at += (end - at + 8) & ~7
    end = len(data) - hash_bytes
    plain = plain and _known_extensions(data, at, end, _PLAIN_EXTENSIONS)
    return IndexFacts(plain=plain, gitlinks=gitlinks, has_attributes=attributes)


def _known_extensions(data: bytes, at: int, end: int, known: Collection[bytes]) -> bool:
    while at < end:
        (size,) = struct.unpack_from(">I", data, at + 4)
        if data[at : at + 4] not in known:
            return False
        at += 8 + size
    return at == end
