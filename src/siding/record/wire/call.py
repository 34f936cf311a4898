"""One line of what passed a run's proxy: a request, a tunnel, or what was refused. Pure.

No line has a header, a query or a body: keys are in them.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, said, text, whole
from siding.record.wire.tokens import Tokens

_LONGEST_PATH = 200
_LONGEST_SEGMENT = 80  # a longer one may be a key
_UNUSUAL = re.compile(r"[^\w./:@~%+-]")


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
