"""Keep another program's transcript inside ours, so that it can be exported byte for byte.

Each of its lines becomes one of ours: a message, which keeps the original line in `sidingOrigin`,
or a `foreign-line` when it is not a message. An export writes the original lines in file order, and
after them the messages written here, in the other program's format.

A transcript that is imported again is compared with what is here of it (`Differences`).
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from siding.agents.transcripts.heads import parsed
from siding.agents.transcripts.kinds import ASSISTANT, FORMAT_VERSION, SPOKEN, Record
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson
from siding.ground.storage.writes import encode_line

MOST_TEXT = 64 * 1024  # characters of one message that are searched
# Keys of what is no text of a message.
_NAMES = frozenset({"id", "type", "call_id", "status", "renderOutputAsMarkdown", "timestamp"})
# Codex (0.169.0) and the Gemini CLI (0.61.0) put what they tell the model about the directory into
# a user message that begins like this.
_CONTEXTS = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<session_context>",
)
ORIGIN = "sidingOrigin"  # no other program writes it
# Releases before wrote the same under a name that Claude Code uses for something of its own.
_OLD_ORIGIN = "origin"
_OLD_KEYS = frozenset({"format", "line"})


class Imported(NamedTuple):
    """An imported conversation: its session id and the records of our transcript."""

    session_id: str
    records: list[Record]


class Gathering:
    """Collects the records of one conversation while it is read; each message follows the last.

    `cursor` is the id of the last message. `stamps` are fields that every message gets.
    """

    def __init__(self, form: str, session_id: str) -> None:
        self.form = form
        self.session_id = session_id
        self.records: list[Record] = []
        self.cursor: str | None = None
        self.stamps: Record = {}
        self.answered: set[str] = set()  # calls of tools whose result was taken
        self._places: dict[str, int] = {}

    def id_of(self, name: object) -> str:
        """Return a uuid for a message that has none; the same `name` always gives the same one."""
        return str(uuid5(NAMESPACE_URL, f"{self.form}:{self.session_id}:{name}"))

    def add(
        self, kind: str, uuid: str, timestamp: object, line: str | None, **fields: object
    ) -> Record:
        """Add a message. If `uuid` is known, it is an update and gets the parent of the first."""
        parent = self.cursor
        if uuid in self._places:
            parent = self.records[self._places[uuid]]["parentUuid"]
        else:
            self.cursor = uuid
        record: Record = {
            "parentUuid": parent,
            "isSidechain": False,
            "type": kind,
            **fields,
            "uuid": uuid,
            "timestamp": timestamp if isinstance(timestamp, str) else "",
            **self.stamps,
            "sessionId": self.session_id,
            "v": FORMAT_VERSION,
        }
        if line is not None:
            record[ORIGIN] = {"format": self.form, "line": line}
        self._places[uuid] = len(self.records)
        self.records.append(record)
        return record

    def add_foreign_line(self, line: str) -> None:
        """Add a line that is not a message, as a `foreign-line`."""
        self.records.append(
            {
                "type": "foreign-line",
                "format": self.form,
                "line": line,
                "sessionId": self.session_id,
                "v": FORMAT_VERSION,
            }
        )

    def knows(self, uuid: str) -> bool:
        """Return whether a message with that id was added."""
        return uuid in self._places

    def parent_of(self, uuid: str) -> str | None:
        """Return the parent's id of a message that was added; None for a root."""
        parent: str | None = self.records[self._places[uuid]]["parentUuid"]
        return parent

    def done(self) -> Imported:
        """Return the conversation as collected so far."""
        return Imported(session_id=self.session_id, records=self.records)


def origin_of(record: Record) -> Record | None:
    """Return the `format` and `line` that a message was made from; None if it was written here."""
    found = record.get(ORIGIN)
    if isinstance(found, dict):
        return found
    return record[_OLD_ORIGIN] if _has_old_origin(record) else None


def without_origin(record: Record) -> Record:
    """Return the message without the original line; fields of other programs are kept."""
    left_out = {ORIGIN, _OLD_ORIGIN} if _has_old_origin(record) else {ORIGIN}
    return {key: value for key, value in record.items() if key not in left_out}


def in_todays_form(record: Record) -> Record:
    """Return the record that this release would make from the same line of another program.

    The directory and branch are left out: they come from the place of the file, not from the line.
    """
    origin = origin_of(record)
    if origin is None:
        return record
    rest = without_origin(record)
    return {key: rest[key] for key in rest if key not in ("cwd", "gitBranch")} | {ORIGIN: origin}


def _has_old_origin(record: Record) -> bool:
    found = record.get(_OLD_ORIGIN)
    return isinstance(found, dict) and found.keys() == _OLD_KEYS


def given_back(
    records: Iterable[Record], form: str, write: Callable[[Record], Iterable[str]]
) -> list[str]:
    """Return the lines of an export: the original lines, and `write(record)` for each new message.

    New messages are those of the person and the model that were not imported from `form`.
    """
    lines: list[str] = []
    for record in records:
        origin = origin_of(record)
        if origin is not None and origin.get("format") == form:
            if isinstance(origin.get("line"), str):  # else another message gives the line back
                lines.append(origin["line"])
        elif record.get("type") == "foreign-line":
            if record.get("format") == form:
                lines.append(str(record.get("line", "")))
        elif record.get("type") in SPOKEN:
            lines.extend(write(record))
    return lines


def is_context(text: str) -> bool:
    """Return whether a user message's text was written by a client, not by a person."""
    return text.lstrip().startswith(_CONTEXTS)


def lines_of(data: bytes) -> list[str]:
    """Return the lines of a file. `bytes_of` restores bytes that are not UTF-8."""
    return data.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n") if data else []


def bytes_of(lines: Iterable[str]) -> bytes:
    """Return the file that consists of the lines."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def record_of(raw: bytes) -> Record:
    """Return a line as a record, {} where it is damaged."""
    try:
        return parsed(raw)
    except NotJson:
        return {}


def moment_of(record: Record) -> str:
    """Return the time of a line, "" if it has none."""
    moment = record.get("timestamp")
    return moment if isinstance(moment, str) else ""


def all_texts(values: Iterable[Any]) -> Iterator[str]:
    """Yield all texts in JSON values, without the ids and the like beside them."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from all_texts(value)
        elif isinstance(value, dict):
            yield from all_texts(each for key, each in value.items() if key not in _NAMES)


# -- What a transcript that is imported again has, and is not here ---------------------------------

_ANSWER = b'"assistant"'
_TOMBSTONE = b'"tombstone"'


class Differences:
    """What a file lacks of `lines`; `take` gets the lines that it has, in their order.

    A client adds lines. It may also take an answer out of its file, when a stream broke and the
    answer was asked for anew, or write it once more with the same id. Nothing is deleted here: an
    answer that is gone there is withdrawn, and one that was written anew is added with its id, of
    which the last line counts.

    `is_same` tells whether two lines that differ are the same but for the name of the session.
    """

    def __init__(
        self, lines: Callable[[], Iterable[bytes]], is_same: Callable[[bytes, bytes], bool]
    ) -> None:
        self._lines = lines
        self._is_same = is_same
        self._coming = iter(lines())
        self._waiting = next(self._coming, None)
        self._all: frozenset[int] | None = None  # hashes of all lines that come
        self._answers: frozenset[str] = frozenset()  # the ids of the answers among them
        self._gone: dict[str, None] = {}
        self._anew: list[bytes] = []

    def take(self, known: bytes) -> bool:
        """Tell whether a line of the file is accounted for."""
        if self._is_next(known):
            self._waiting = next(self._coming, None)
            return True
        if self._all is None:  # few imports come here
            self._look_at_all()
        assert self._all is not None
        if known in self._anew:  # and an earlier import has added it
            self._anew.remove(known)
            return True
        if hash(known) in self._all:
            return self._skip_to(known)
        if withdrawn := _id_in(known, _TOMBSTONE, "tombstone"):
            self._gone.pop(withdrawn, None)  # by an earlier import
            return True
        answer = _id_in(known, _ANSWER, ASSISTANT, is_theirs=True)
        if answer and answer not in self._answers:
            self._gone[answer] = None
        return bool(answer)

    def new(self, session: str) -> Iterator[bytes]:
        """Yield the lines to append."""
        for uuid in self._gone:
            record = {"type": "tombstone", "uuid": uuid, "sessionId": session, "v": FORMAT_VERSION}
            yield encode_line(record)
        yield from self._anew
        if self._waiting is not None:
            yield from chain((self._waiting,), self._coming)

    def _is_next(self, known: bytes) -> bool:
        waiting = self._waiting
        return waiting is not None and (known == waiting or self._is_same(known, waiting))

    def _skip_to(self, known: bytes) -> bool:
        """Pass over answers that were written anew in front of a line that is known."""
        while self._waiting is not None and not self._is_next(known):
            if not _id_in(self._waiting, _ANSWER, ASSISTANT):
                return False
            self._anew.append(self._waiting)
            self._waiting = next(self._coming, None)
        found = self._waiting is not None
        self._waiting = next(self._coming, None)
        return found

    def _look_at_all(self) -> None:
        hashes, answers = set(), set()
        for line in self._lines():
            hashes.add(hash(line))
            answers.add(_id_in(line, _ANSWER, ASSISTANT))
        self._all, self._answers = frozenset(hashes), frozenset(answers)


def _id_in(line: bytes, mark: bytes, kind: str, *, is_theirs: bool = False) -> str:
    """Return the id that a line of this type names, "" for any other line.

    `is_theirs`: only if the client has written it; lines of ours have a `v`.
    """
    if mark not in line:  # most lines are not parsed
        return ""
    try:
        record = parsed(line)
    except NotJson:
        return ""
    if is_theirs and "v" in record:
        return ""
    uuid = record.get("uuid")
    return uuid if record.get("type") == kind and isinstance(uuid, str) else ""
