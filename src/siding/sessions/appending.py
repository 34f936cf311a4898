"""Append many lines to a transcript in one go, by the rules of every journal.

The lines go out in one write and one flush, under the journal's lock, so a batch costs what one
line costs. On an error the file is cut back to where it ended and nothing of the batch is there.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from siding.storage.errors import NotStorable
from siding.storage.files import flush, fsync_dir, make_dirs, open_with_stat, write_all
from siding.storage.journals import LOCK_TIMEOUT_S
from siding.storage.lines import MAX_LINE_BYTES
from siding.storage.locks import FileLock


def append_lines(path: Path, lines: Sequence[bytes]) -> int:
    """Add the lines (without newlines); return the file's new size. Without lines, only close an
    unfinished last one.

    Returns after they would survive a power cut. A last line that a killed writer left unfinished
    is closed first; it stays, and readers report it. Raises OSError, `LockBusy`,
    `NotARegularFile` or `NotStorable`.
    """
    for line in lines:
        if len(line) > MAX_LINE_BYTES:
            raise NotStorable(f"an entry of {len(line)} bytes is over {MAX_LINE_BYTES}")
    if not path.parent.is_dir():
        make_dirs(path.parent)
    lock = FileLock(path.with_name(path.name + ".lock"))
    with lock.acquire(timeout_s=LOCK_TIMEOUT_S):
        fd, status = open_with_stat(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            size = status.st_size
            if size == 0:
                fsync_dir(path.parent)
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            data = b"".join((b"\n" if torn else b"", *(b"%b\n" % line for line in lines)))
            if not data:
                return size
            try:
                write_all(fd, data)
                flush(fd)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(fd, size)
                raise
            return size + len(data)
        finally:
            os.close(fd)
