"""Read instruction files from the disk, whatever stands in their place."""

import os
import stat
from pathlib import Path

from siding.assistant.loop.context.files import Found, Why
from siding.assistant.loop.context.gathering import ROOM
from siding.ground.errors import NotARegularFile
from siding.ground.files.regular import read_below

_MOST = 4 * ROOM.one + 4  # bytes: a character has four at most


def read_file(path: Path, roots: tuple[Path, ...]) -> Found | Why | None:
    """Return a text file, or why it is none; None if nothing, or a directory, is there.

    With `roots` its real path must lie in one of them.
    """
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return None
    except OSError:  # a link that leads nowhere, or into a circle, is nothing as well
        return None
    real = Path(os.path.realpath(path))
    root = next((each for each in roots if real.is_relative_to(each)), None)
    if roots and root is None:
        return Why.OUTSIDE
    root = real.parent if root is None else root
    try:
        data, status = read_below(root, real.relative_to(root), _MOST)
    except NotARegularFile:
        return Why.NO_FILE
    except OSError:
        return Why.DENIED
    is_whole = len(data) >= status.st_size
    text = _decoded(data, is_whole=is_whole)
    if text is None:
        return Why.NO_TEXT
    return Found(real, text, max(status.st_size, len(data)), is_whole=is_whole)


def _decoded(data: bytes, *, is_whole: bool) -> str | None:
    """Return bytes as text, None if they are none; the last character may be cut off."""
    if b"\0" in data:
        return None
    for end in (len(data),) if is_whole else range(len(data), max(len(data) - 4, 0), -1):
        try:
            return data[:end].decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            continue
    return None
