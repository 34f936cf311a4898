"""What passed a run's proxy: a JSON object a line in one file; see `FORMAT.md`.

A line is a request, a tunnel, or what was refused. No line has a header, a query or a body: keys
are in them.

The proxy alone writes the file. It is not flushed line by line: the run's host does that once, when
the run is over, before its step is recorded.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from siding.ground.files.durable import flush, make_dirs, write_all
from siding.ground.files.regular import open_regular
from siding.ground.hashing import sha256_of_file
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, said, text, whole
from siding.ground.storage.layout import TaskLayout
from siding.record.wire.tokens import Tokens

_LONGEST_PATH = 200
_LONGEST_SEGMENT = 80  # a longer one may be a key
_UNUSUAL = re.compile(r"[^\w./:@~%+-]")
KIND = "wire"
LONGEST = 64 << 20  # bytes; a run that is refused a million times must not fill the disk


class Kind(StrEnum):
    """What a line is about."""

    REQUEST = "request"  # its answer was read
    TUNNEL = "tunnel"  # bytes that only the two ends understand
    REFUSED = "refused"  # what the list of hosts does not allow


class Ending(StrEnum):
    """How a request or a tunnel ended."""

    WHOLE = "whole"
    CUT = "cut"  # the server ended before its answer was over
    LEFT = "left"  # the client did not wait for the end
    UNREACHABLE = "unreachable"


class Passed(NamedTuple):
    """One line. Times are in milliseconds, sizes in bytes; a field of 0 or "" is left out."""

    at: str  # when it began (ISO 8601)
    kind: Kind
    host: str
    port: int = 0
    method: str = ""
    path: str = ""
    status: int = 0
    ended: str = ""
    model: str = ""
    first_ms: int = 0  # until the first byte of the answer
    ms: int = 0
    sent: int = 0  # of the bodies, as they were on the wire
    received: int = 0
    tokens: Tokens | None = None  # None: the answer did not say, or could not be read
    retry: bool = False  # the same was asked before, and failed
    error: str = ""  # the API's word
    why: str = ""  # it was refused, could not be reached, or was not counted

    @property
    def failed(self) -> bool:
        return bool(self.error) or self.status >= 400 or self.ended == Ending.UNREACHABLE

    def as_record(self) -> dict[str, Any]:
        record = {**self._asdict(), "kind": self.kind.value, "tokens": None}
        if self.tokens is not None:
            counts = {name: count for name, count in self.tokens._asdict().items() if count}
            record["tokens"] = counts or {"output": 0}
        return {name: value for name, value in said(**record).items() if value}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Passed":
        counts = record.get("tokens")
        tokens = None
        if isinstance(counts, dict):
            tokens = Tokens(*(max(0, whole(counts.get(name))) for name in Tokens._fields))
        kind = text(record.get("kind"))
        return cls(
            at=text(record.get("at")),
            kind=Kind(kind) if kind in list(Kind) else Kind.TUNNEL,
            host=text(record.get("host")),
            port=whole(record.get("port")),
            method=text(record.get("method")),
            path=text(record.get("path")),
            status=whole(record.get("status")),
            ended=text(record.get("ended")),
            model=text(record.get("model")),
            first_ms=whole(record.get("first_ms")),
            ms=whole(record.get("ms")),
            sent=whole(record.get("sent")),
            received=whole(record.get("received")),
            tokens=tokens,
            retry=record.get("retry") is True,
            error=text(record.get("error")),
            why=text(record.get("why")),
        )


def path_to_keep(target: str) -> str:
    """Return a request's path for a line: without its query, and without what may be a key."""
    path = target.partition("?")[0]
    parts = ("…" if len(part) > _LONGEST_SEGMENT else part for part in path.split("/"))
    return _UNUSUAL.sub("…", "/".join(parts))[:_LONGEST_PATH]


def record_of(line: object) -> Passed:
    """Return the line in a parsed record; what is of an unexpected type counts as missing."""
    return Passed.from_record(mapping(line))


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
