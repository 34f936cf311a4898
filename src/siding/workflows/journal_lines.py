"""The lines of a journal, each with its number and its checksum; see FORMAT.md.

Without these a line that was damaged to look torn, or that is missing, would count as one that a
killed writer left: its call would be paid for again, and nobody would be told.
"""

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple

VERSION = 1
BEGUN, ANSWER, DROP, ATTEMPT = "begun", "answer", "drop", "attempt"
NUMBER, FLUSHED, CHECKSUM = "n", "flushed", "crc"
_MARK = b',"crc":"'
Range = tuple[int, int]  # the first and the last of some numbers in a row


class Begun(NamedTuple):
    """A call is at work. The newest line of a call has its agent's conversation, if known."""

    path: str
    kind: str
    fingerprint: str
    id: int = -1
    session: str = ""

    def as_record(self) -> dict[str, Any]:
        record: dict[str, Any] = {
            "t": BEGUN,
            "path": self.path,
            "kind": self.kind,
            "fp": self.fingerprint,
        }
        if self.id >= 0:
            record["id"] = self.id
        if self.session:
            record["session"] = self.session
        return record


class Answer(NamedTuple):
    """A call was answered. `result` is its outcome; `seq` counts answers in their order."""

    path: str
    kind: str
    fingerprint: str
    seq: int
    result: Mapping[str, Any]
    id: int = -1

    @property
    def outcome(self) -> str:
        """What kind of outcome it is: ok, skipped, dead or refused."""
        kind = self.result.get("kind")
        return kind if isinstance(kind, str) else ""

    def as_record(self) -> dict[str, Any]:
        return {
            "t": ANSWER,
            "path": self.path,
            "kind": self.kind,
            "fp": self.fingerprint,
            "seq": self.seq,
            **({"id": self.id} if self.id >= 0 else {}),
            "result": dict(self.result),
        }


class Drop(NamedTuple):
    """What is recorded of these calls so far counts no more.

    `after` is the call that came out differently than it was recorded, before them in their lane;
    "" if the script ended without having made them.
    """

    paths: tuple[str, ...]
    after: str = ""

    def as_record(self) -> dict[str, Any]:
        return {"t": DROP, "paths": list(self.paths), "after": self.after}


class AttemptLine(NamedTuple):
    """A process began to work on the run, with this script and these arguments.

    `lost` are the numbers of lines that were missing then, and `unreadable` counts the lines before
    this one that could not be read: the run was told, or a person has given them up.
    """

    number: int
    at: str
    script: str
    args: str
    policy: Mapping[str, Any] = {}
    lost: tuple[tuple[int, int], ...] = ()
    unreadable: int = 0

    @property
    def key(self) -> str:
        """What makes two attempts the same: their script and its arguments."""
        return f"{self.script} {self.args}"

    def as_record(self) -> dict[str, Any]:
        return {
            "t": ATTEMPT,
            "v": VERSION,
            "number": self.number,
            "at": self.at,
            "script": self.script,
            "args": self.args,
            "policy": dict(self.policy),
            **({"lost": [list(one) for one in self.lost]} if self.lost else {}),
            **({"unreadable": self.unreadable} if self.unreadable else {}),
        }


JournalLine = Begun | Answer | Drop | AttemptLine


def line_from(record: Mapping[str, Any], index: int) -> JournalLine | None:
    """Return the line of a record; None for a kind that a newer version wrote.

    An answer without a `seq` has the number of its line. Raises KeyError, TypeError and ValueError
    if a field is missing or of another type.
    """
    match record.get("t"):
        case "begun":
            return Begun(
                *_call(record),
                id=int(record.get("id", -1)),
                session=str(record.get("session", "")),
            )
        case "answer":
            return Answer(
                *_call(record),
                seq=int(record.get("seq", index)),
                id=int(record.get("id", -1)),
                result=_result(record["result"]),
            )
        case "drop":
            return Drop(
                paths=tuple(map(_text, record["paths"])), after=str(record.get("after", ""))
            )
        case "attempt":
            return AttemptLine(
                number=int(record["number"]),
                at=str(record["at"]),
                script=_text(record["script"]),
                args=_text(record["args"]),
                policy=record.get("policy", {}),
                lost=tuple((int(first), int(last)) for first, last in record.get("lost", ())),
                unreadable=int(record.get("unreadable", 0)),
            )
        case None:
            raise KeyError("t")
        case _:
            return None


def path_order(path: str) -> tuple[tuple[int, str], ...]:
    """Return by what paths are sorted: as they stand in the script."""
    parts = path.replace("/", ".").split(".")
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)


def stands_behind(path: str, lane: str, after: str) -> bool:
    """Tell whether a call stands behind another one (`after`) in a lane, or in a lane within it."""
    inner, behind = _number_in(lane, path), _number_in(lane, after)
    return inner is not None and behind is not None and inner > behind


def _number_in(lane: str, path: str) -> int | None:
    """Return the number that a call has in a lane, or the call of the lane that it is within."""
    if lane:
        if not path.startswith(lane + "/"):
            return None
        path = path[len(lane) + 1 :]
    first = path.partition("/")[0].partition(".")[0]
    return int(first) if first.isdigit() else None


def _call(record: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the path, the kind and the fingerprint of a call. Raises KeyError and TypeError."""
    found = path, kind, fingerprint = record["path"], record["kind"], record["fp"]
    if isinstance(path, str) and isinstance(kind, str) and isinstance(fingerprint, str):
        return found
    raise TypeError(f"{found!r} are not all texts")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _result(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise TypeError("the result has no kind")
    return value


# -- The number and the checksum of each line ------------------------------------------------------


class Misplaced(ValueError):
    """A line is not as it was written, or stands where it was not written."""


class Place(NamedTuple):
    """Where a line stands: its number, and the last number that was on disk when it was written."""

    number: int
    flushed: int


def numbered(line: bytes, place: Place) -> bytes:
    """Return a line (one JSON object and a newline) with its place and its checksum."""
    body = line.removesuffix(b"}\n") + b',"%b":%d,"%b":%d' % (
        NUMBER.encode(),
        place.number,
        FLUSHED.encode(),
        place.flushed,
    )
    return body + _MARK + b'%08x"}\n' % zlib.crc32(body)


def place_of(record: Mapping[str, Any], raw: bytes) -> Place | None:
    """Return the place of a line; None if an older version wrote it, without a number.

    Raises Misplaced if the line is not as it was written, KeyError and ValueError.
    """
    if NUMBER not in record:
        return None
    body, mark, _rest = raw.rpartition(_MARK)
    if not mark or record.get(CHECKSUM) != f"{zlib.crc32(body):08x}":
        raise Misplaced("its checksum does not fit")
    return Place(number=int(record[NUMBER]), flushed=int(record[FLUSHED]))


class Unreadable(NamedTuple):
    """A line of the file that cannot be read; one that `is_torn` may be left by a killed writer."""

    line: int
    problem: str
    is_torn: bool


class Losses:
    """Follows the lines of a journal from its beginning, and says which of them are lost.

    Lines that were never flushed may be missing after a power cut: nobody was promised anything
    about them. A number that a later line knows to have been on disk must be there.
    """

    def __init__(self) -> None:
        self.last = 0
        self.unreadable: list[Unreadable] = []
        self.missing: list[Range] = []
        self._flushed = 0
        self._accepted: list[Range] = []
        self._accepted_unreadable = 0

    def add(self, place: Place) -> None:
        """Take the next line. Raises Misplaced."""
        if place.number <= self.last:
            raise Misplaced(f"it is number {place.number} and stands behind number {self.last}")
        if place.number > self.last + 1:
            self.missing.append((self.last + 1, place.number - 1))
        self.last = place.number
        self._flushed = max(self._flushed, place.flushed)

    def add_unreadable(self, line: int, problem: str, *, is_torn: bool) -> None:
        """Take a line of the file that cannot be read."""
        self.unreadable.append(Unreadable(line=line, problem=problem, is_torn=is_torn))

    def refuse_torn(self) -> None:
        """Say of the last unreadable line that no killed writer has left it."""
        self.unreadable[-1] = self.unreadable[-1]._replace(is_torn=False)

    def accept(self, missing: Iterable[Range], unreadable: int) -> None:
        """Take what an attempt says: this was lost when it began, and it was told or agreed to."""
        self._accepted += missing
        self._accepted_unreadable = max(self._accepted_unreadable, unreadable)

    @property
    def newly_unreadable(self) -> list[Unreadable]:
        """The unreadable lines that no attempt has told of yet."""
        return self.unreadable[self._accepted_unreadable :]

    @property
    def newly_missing(self) -> list[Range]:
        """The numbers that were on disk, are not there now, and that nobody has given up."""
        return [
            (first, min(last, self._flushed))
            for first, last in self.missing
            if first <= self._flushed
            and not any(low <= first and last <= high for low, high in self._accepted)
        ]
