"""What a transcript has at its end: whether a turn is written, and when it was last written to.

The path is what a process of a run says. Nothing of the file is kept but a yes or a no, and a time.
"""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from siding.agents.transcripts.kinds import ASSISTANT, SPOKEN
from siding.agents.transcripts.messages import text_of
from siding.ground.errors import UnreadableFile
from siding.ground.files.regular import open_regular
from siding.ground.storage.codec import NotJson, parse_object

_TAIL = 256 * 1024
_UNWRITTEN_S = 0.15  # Claude Code writes ten times a second
_MOST_S = 2.0  # on a busy machine it writes later
_LOOK_S = 0.02
_TIME = re.compile(rb'"timestamp":"([0-9T:.Z+-]{20,35})"')


def size_of(path: str) -> int:
    """Return the size of a file, -1 if it is not there."""
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


def wait_until_written(path: str, last_words: str, size: int) -> None:
    """Wait until a transcript ends with what the model said last.

    If nobody knows what that was, wait until it is larger than `size`, for a moment.
    """
    most = _MOST_S if last_words.strip() else _UNWRITTEN_S
    until = time.monotonic() + most
    while size_of(path) >= 0 and time.monotonic() < until and not _is_there(path, last_words, size):
        time.sleep(_LOOK_S)


def last_time_in(path: str) -> str:
    """Return the time of the newest message of a transcript (ISO 8601); "" if nobody can tell."""
    for line in _backwards(path):
        if b'"type":"user"' in line or b'"type":"assistant"' in line:
            found = _TIME.search(line)
            return found[1].decode() if found else ""
    return ""


def _is_there(path: str, last_words: str, size: int) -> bool:
    if not last_words.strip():
        return size_of(path) != size
    for line in _backwards(path):
        try:
            record = parse_object(line)
        except NotJson:
            continue
        if record.get("type") not in SPOKEN or record.get("isSidechain"):
            continue
        said = text_of(record).strip()
        return record["type"] == ASSISTANT and bool(said) and last_words.strip().endswith(said)
    return True  # its last message is longer than what is looked at, or of another form


def _backwards(path: str) -> Iterator[bytes]:
    """Yield the whole lines at the end of a file, the last one first."""
    try:
        with os.fdopen(open_regular(Path(path)), "rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - _TAIL))
            lines = file.read(_TAIL).split(b"\n")
    except (OSError, UnreadableFile):
        return
    yield from reversed(lines[1:] if end > _TAIL else lines)
