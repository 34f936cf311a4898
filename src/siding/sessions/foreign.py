"""Carry another program's transcript in ours, and give it back as it was.

Each of its lines becomes one of ours: a message that carries the line it was made of in
`sidingOrigin`, or, when it is no message, a `foreign-line`. Written back in file order they are the
transcript that came in, byte for byte; what was said here since then is put behind them in the
other's form.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

from siding.sessions.kinds import FORMAT_VERSION, SPOKEN, Record

# How Codex and the Gemini CLI begin what they tell the model about the place, in a person's name.
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
    """A conversation that came in: its id and the lines of our transcript."""

    session_id: str
    records: list[Record]


class Gathering:
    """The lines of one conversation while it is being read: each message behind the last one."""

    def __init__(self, form: str, session_id: str) -> None:
        self.form = form
        self.session_id = session_id
        self.records: list[Record] = []
        self.cursor: str | None = None
        self.stamps: Record = {}
        self.answered: set[str] = set()  # calls of tools whose result was taken
        self._places: dict[str, int] = {}

    def id_of(self, name: object) -> str:
        """Return an id for a message that has none of our kind; the same name, the same id."""
        return str(uuid5(NAMESPACE_URL, f"{self.form}:{self.session_id}:{name}"))

    def add(
        self, kind: str, uuid: str, timestamp: object, line: str | None, **fields: object
    ) -> Record:
        """Take a message. One that came before (an update) keeps its place and its parent."""
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

    def keep(self, line: str) -> None:
        """Take a line that is no message."""
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
        """Whether a message of that id was taken."""
        return uuid in self._places

    def parent_of(self, uuid: str) -> str | None:
        """Return the message before a known one."""
        parent: str | None = self.records[self._places[uuid]]["parentUuid"]
        return parent

    def done(self) -> Imported:
        """Return what was gathered."""
        return Imported(session_id=self.session_id, records=self.records)


def origin_of(record: Record) -> Record | None:
    """Return what a message was made of: its `format` and `line`. None: it came from nobody."""
    found = record.get(ORIGIN)
    if isinstance(found, dict):
        return found
    return record[_OLD_ORIGIN] if _has_old_origin(record) else None


def without_origin(record: Record) -> Record:
    """Return the message without the line it was made of; fields of other programs stay."""
    left_out = {ORIGIN, _OLD_ORIGIN} if _has_old_origin(record) else {ORIGIN}
    return {key: value for key, value in record.items() if key not in left_out}


def in_todays_form(record: Record) -> Record:
    """Return what this release would have made of the same line of another program.

    The directory is left out: it is not in the line, but told by where the line's file is found.
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
    """Return the lines in the other program's form: those that came from it as they were, and
    `write` of every other spoken message.
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
    """Whether a client said it and no person, whichever client's transcript it came through."""
    return text.lstrip().startswith(_CONTEXTS)


def lines_of(data: bytes) -> list[str]:
    """Return the lines of a file; bytes that are no text stay what they were on the way back."""
    return data.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n") if data else []


def bytes_of(lines: Iterable[str]) -> bytes:
    """Return a file of the lines."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
