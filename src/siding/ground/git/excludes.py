"""The ignore patterns of a person that lie outside of a worktree: git's own file, and theirs.

Siding's indexes have their own git directory, so the patterns are copied for them. The first line
of a copy is a comment that names the files which it was made from, so that it can be renewed when
a person adds a pattern.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from siding.ground.files.regular import read_small

_SOURCES = b"# siding: copied from "
_LIMIT = 1 << 20  # bytes of a file


def copied(sources: Sequence[Path]) -> bytes:
    """Return the patterns in these files, those that exist, in order."""
    names = json.dumps([os.fspath(each) for each in sources]).encode()
    patterns = [read_small(path, _LIMIT) or b"" for path in sources]
    return b"\n".join([_SOURCES + names, *patterns, b""])


def renewed(copy: bytes) -> bytes:
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
    return copied([Path(each) for each in names])
