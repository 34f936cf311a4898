"""Cache files. Losing one costs time and nothing else.

The first line is ``<form> <CRC-32 of the rest, 8 hex digits>``; JSON follows. A file that is
damaged, of another form or missing is treated alike: nothing is known. The checksum is there
because a flipped bit would otherwise be believed. Paths are bytes and JSON has only text: `as_text`
and `as_bytes` convert them without loss.
"""

import json
import os
from binascii import crc32
from collections.abc import Callable
from pathlib import Path
from typing import Any

from siding.ground.files.regular import read_small

_LIMIT = 1 << 28


def load(path: Path, form: str) -> Any:
    """Return the value that `keep` wrote in the same form; None if there is none."""
    head, _, body = (read_small(path, _LIMIT) or b"").partition(b"\n")
    if head != _head(form, body):
        return None
    return json.loads(body)


def keep(path: Path, form: str, build: Callable[[int], Any]) -> None:
    """Write the value that `build` returns, without flushing. On an OSError the old file stays.

    `build` is called with the present time of the file system's clock, in nanoseconds, so that it
    can leave out files that changed too recently. The caller holds the lock of the file's owner.
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
