"""The lines of a journal; see FORMAT.md."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple

VERSION = 1
BEGUN, ANSWER, DROP, ATTEMPT = "begun", "answer", "drop", "attempt"


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
