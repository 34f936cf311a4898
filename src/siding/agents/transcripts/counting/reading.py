"""Read the calls of one file. What was appended since the last time is read alone.

A file is read a block at a time, and only lines that may count are parsed: memory is that of its
calls. Of a file that is not what it was when it was read (shorter, or another end of the part that
was read) everything is read again.
"""

import os
import sqlite3
from pathlib import Path

from msgspec import Struct

from siding.agents.transcripts.counting import aider, claude, codex, gemini, opencode
from siding.agents.transcripts.counting.calls import Counted
from siding.agents.transcripts.forms import Form
from siding.agents.transcripts.homes.found import FoundTranscript
from siding.agents.transcripts.reading.locate import lines_from
from siding.ground.errors import SidingError
from siding.ground.files.regular import open_with_stat, read_bytes

UNREADABLE = (OSError, SidingError, sqlite3.Error)
_TAKERS = {
    Form.CLAUDE: claude.take,
    Form.CODEX: codex.take,
    Form.GEMINI: gemini.take,
    "aider": aider.take,
    "siding": claude.take,  # what was imported, in the form of Claude Code
}
_DATABASES = {"opencode": opencode.conversations}
_END = 64  # bytes by which it is seen that a file has only grown


class FileCount(Struct):
    """What was read of a file: its conversations, and where the reading stopped.

    `end`: the last bytes before `offset`.
    """

    conversations: list[Counted]
    offset: int = 0
    end: bytes = b""


def read_file(found: FoundTranscript, before: FileCount | None = None) -> FileCount:
    """Return the calls in a file; `before` is what an earlier reading of it returned.

    Raises one of `UNREADABLE`.
    """
    if found.client in _DATABASES:
        return FileCount(_DATABASES[found.client](found.path))
    if found.path.suffix == ".json":
        whole = _begun(found)
        gemini.take_document(whole, read_bytes(found.path))
        return FileCount([whole])
    fd, status = open_with_stat(found.path)
    try:
        if before is None or not _has_grown(fd, before):
            before = FileCount([_begun(found)])
        _go_on(fd, status.st_size, found.client, before)
        return before
    finally:
        os.close(fd)


def _begun(found: FoundTranscript) -> Counted:
    """Return the conversation of a file of which nothing was read."""
    # A subagent's file is a part of the conversation that its lines name.
    return Counted("" if found.is_subagent else found.path.stem, cwd=_gemini_root(found))


def _gemini_root(found: FoundTranscript) -> str:
    """Return the directory of a conversation of Gemini CLI: its lines do not name it."""
    if found.client != "gemini":
        return ""
    for place in found.path.parents[1:4]:
        try:
            return read_bytes(place / ".project_root", limit=4096).decode().strip()
        except (OSError, SidingError, UnicodeDecodeError):
            continue
    return ""


def _has_grown(fd: int, before: FileCount) -> bool:
    return bool(before.conversations) and (
        os.pread(fd, len(before.end), before.offset - len(before.end)) == before.end
    )


def _go_on(fd: int, size: int, client: str, count: FileCount) -> None:
    take = _TAKERS[client]
    counted = count.conversations[0]
    for offset, lines in lines_from(fd, count.offset, size):
        for raw in lines:
            take(counted, raw)
        count.offset = offset + sum(map(len, lines)) + len(lines)
    length = min(_END, count.offset)
    count.end = os.pread(fd, length, count.offset - length)


def stamp_of(found: FoundTranscript) -> tuple[int, int]:
    """Return the size and time by which a file is known to be unchanged."""
    size, mtime = found.size, found.mtime_ns
    if found.client in _DATABASES:  # what was written last stands beside it
        try:
            beside = os.stat(f"{found.path}-wal")
        except OSError:
            return size, mtime
        return size + beside.st_size, max(mtime, beside.st_mtime_ns)
    return size, mtime


def alone(client: str, path: Path) -> FoundTranscript:
    """Return one file as a walk would have found it. Raises OSError."""
    status = os.stat(path)
    return FoundTranscript(client, path, status.st_size, status.st_mtime_ns)
