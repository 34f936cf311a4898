"""Parse the output of `git status --porcelain=v2 -z`, and say what it is to ignore.

The ignore patterns of a person that lie outside of a worktree are git's own file, and theirs.
Siding's indexes have their own git directory, so the patterns are copied for them. The first line
of a copy is a comment that names the files which it was made from, so that it can be renewed when
a person adds a pattern.
"""

import json
import os
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.namedtuples import NamedTuple

ARGUMENTS = ("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all")
_SOURCES = b"# siding: copied from "
_LIMIT = 1 << 20  # bytes of a file


class EntryKind(StrEnum):
    TRACKED = "tracked"
    CONFLICTED = "conflicted"
    UNTRACKED = "untracked"
    IGNORED = "ignored"


class StatusEntry(NamedTuple):
    """One path that differs between disk and index (`unstaged`) or index and HEAD (`staged`).

    ``staged`` and ``unstaged`` are git's letters (``.`` for none, M T A D). A directory that is
    ignored as a whole, or that is a repository of its own, ends with a slash. ``in_index`` are the
    mode and the id that the index has, where it has one entry of the path, or none.
    """

    kind: EntryKind
    path: bytes
    staged: str = "."
    unstaged: str = "."
    in_index: bytes = b""


def parse(output: bytes) -> Iterator[StatusEntry]:
    """Yield the entries. Lines of unknown kinds are skipped."""
    fields = iter(output.split(b"\0"))
    for field in fields:
        match field[:2]:
            case b"? ":
                yield StatusEntry(kind=EntryKind.UNTRACKED, path=field[2:])
            case b"! ":
                yield StatusEntry(kind=EntryKind.IGNORED, path=field[2:])
            case b"1 ":
                # 1 XY sub mH mI mW hH hI path
                words = field.split(b" ", 8)
                yield StatusEntry(
                    kind=EntryKind.TRACKED,
                    path=words[8],
                    staged=chr(words[1][0]),
                    unstaged=chr(words[1][1]),
                    in_index=words[4] + b" " + words[7],
                )
            case b"2 ":
                # 2 XY sub mH mI mW hH hI X100 path, and the old path as a field of its own
                path = field.split(b" ", 9)[9]
                next(fields, None)
                yield StatusEntry(kind=EntryKind.TRACKED, path=path, staged="R")
            case b"u ":
                # u XY sub m1 m2 m3 mW h1 h2 h3 path
                path = field.split(b" ", 10)[10]
                yield StatusEntry(kind=EntryKind.CONFLICTED, path=path, staged="U", unstaged="U")
            case _:
                continue


def copied_excludes(sources: Sequence[Path]) -> bytes:
    """Return the patterns in these files, those that exist, in order."""
    names = json.dumps([os.fspath(each) for each in sources]).encode()
    patterns = [read_small(path, _LIMIT) or b"" for path in sources]
    return b"\n".join([_SOURCES + names, *patterns, b""])


def renewed_excludes(copy: bytes) -> bytes:
    """Return a copy as its sources are now; as it is, if it does not say what they are."""
    first, _, _ = copy.partition(b"\n")
    if not first.startswith(_SOURCES):
        return copy  # of an older version
    try:
        names = json.loads(first[len(_SOURCES) :])
    except ValueError:
        return copy
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        return copy
    return copied_excludes([Path(each) for each in names])
