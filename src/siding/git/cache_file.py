"""A file that keeps what is costly to find out again. Losing it costs time, and nothing else.

``<form> <CRC-32 of the rest, 8 hex digits>`` on the first line, then JSON. A file that is damaged,
of another form or not there at all is the same to the reader: nothing is known. Without the
checksum a flipped bit would be believed. Paths are bytes and JSON knows only text: `as_text` and
`as_bytes` convert them, without loss.
"""

import json
import os
from binascii import crc32
from collections.abc import Callable
from pathlib import Path
from typing import Any

from siding.files.regular import read_small

_LIMIT = 1 << 28


def load(path: Path, form: str) -> Any:
    """Return the value that `keep` was given for the same form; None when there is none."""
    head, _, body = (read_small(path, _LIMIT) or b"").partition(b"\n")
    if head != _head(form, body):
        return None
    return json.loads(body)


def keep(path: Path, form: str, build: Callable[[int], Any]) -> None:
    """Write the value that `build` returns, not durably; on an error what is there stays.

    `build` is called with the time now, in nanoseconds, by the clock of the file system: what it
    keeps of files may have to be older than that. The caller holds the lock of what the file
    belongs to.
    """
    temporary = path.with_name(path.name + ".lock")
    try:
        with temporary.open("wb") as file:
            value = build(os.fstat(file.fileno()).st_ctime_ns)
            body = json.dumps(value, separators=(",", ":")).encode("ascii")
            file.write(b"%b\n%b" % (_head(form, body), body))
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)


def as_text(path: bytes) -> str:
    """Return a path as JSON can hold it."""
    return path.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """Return the path that `as_text` was given."""
    return text.encode("utf-8", "surrogateescape")


def _head(form: str, body: bytes) -> bytes:
    return b"%b %08x" % (form.encode("ascii"), crc32(body))
