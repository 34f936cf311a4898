"""The file of what passed a run's proxy: a JSON object a line; see `FORMAT.md`.

The proxy alone writes it. It is not flushed line by line: the run's host does that once, when the
run is over, before its step is recorded.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from siding.ground.files.durable import flush, make_dirs, write_all
from siding.ground.files.regular import open_regular
from siding.ground.hashing import sha256_of_file
from siding.ground.storage.layout import TaskLayout
from siding.record.wire.call import Passed, record_of

KIND = "wire"
LONGEST = 64 << 20  # bytes; a run that is refused a million times must not fill the disk


class WireJournal:
    """Appends lines to the file at `path`; None keeps nothing. A full disk loses lines alone."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._fd = -1
        self._size = 0

    def add(self, passed: Passed) -> None:
        if self._path is None or self._size > LONGEST:
            return
        data = json.dumps(passed.as_record()).encode() + b"\n"
        try:
            if self._fd < 0:
                make_dirs(self._path.parent)
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                self._fd = open_regular(self._path, flags)
                self._size = os.fstat(self._fd).st_size
            write_all(self._fd, data)
        except OSError:
            return
        self._size += len(data)


def read_passed(path: Path, *, after: int = 0) -> tuple[list[Passed], int]:
    """Return the lines behind an offset, in order, and the offset behind the last whole line.

    Lines that cannot be read are left out. Raises OSError.
    """
    with open(open_regular(path), "rb") as file:
        file.seek(after)
        data = file.read()
    end = data.rfind(b"\n") + 1
    return list(_parsed(data[:end])), after + end


def living(layout: TaskLayout, run_id: str) -> Path:
    """Return the file of a run that lives, or whose step is not recorded yet."""
    return layout.runs_dir / f"{run_id}.{KIND}"


def hash_of(path: Path) -> str:
    """Flush the lines of a run that has ended; return their hash, "" if there are none."""
    try:
        fd = open_regular(path)
    except OSError:
        return ""
    try:
        flush(fd)
        return sha256_of_file(fd)
    finally:
        os.close(fd)


def name_wire(layout: TaskLayout, run_id: str, number: int) -> str:
    """Give the lines of a run the number of its step; return their name, "" without any."""
    own, named = living(layout, run_id), layout.artifact(number, KIND)
    if not os.path.lexists(own):
        return named.name if os.path.lexists(named) else ""
    own.replace(named)
    return named.name


def _parsed(data: bytes) -> Iterator[Passed]:
    for line in data.splitlines():
        try:
            yield record_of(json.loads(line))
        except ValueError:
            continue  # cut off by a kill
