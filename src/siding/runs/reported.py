"""What the agent of a run has reported so far: ``runs/<id>.agent``, one JSON object.

The run's broker writes it; it is not flushed, and goes with the run's record. What matters later is
in the run's step. Of an agent that was started without a run it is ``agents/<hash>.agent``.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from siding.errors import SidingError
from siding.namedtuples import NamedTuple
from siding.runs.small_files import replace_small
from siding.runs.store import AGENT
from siding.storage.codec import encode_document
from siding.storage.documents import read_document_or_none
from siding.storage.fields import mapping, said, text, whole, words
from siding.storage.layout import TaskLayout

_VERSION = 1
LONGEST_PROMPT = 4000  # characters that are kept
_LONGEST_TITLE = 72


class Reported(NamedTuple):
    """What an agent has reported. Its texts are without secrets, and untrusted."""

    session: str = ""  # the newest conversation
    transcript: str = ""
    prompts: int = 0  # how many there were
    prompt: str = ""  # the newest
    prompted_at: str = ""  # ISO 8601
    turn: str = ""  # the agent's own id of it
    answers: str = ""  # its id of what it answers: that prompt, or the end of a helper in its turn
    is_new: bool = False  # the conversation began in this run, as far as the agent says
    seen: int = 0  # the newest step at that prompt: what was taken back until then, the agent knows
    in_turn: bool = False  # the turn of the newest prompt is not over
    is_kept: bool = False  # that turn has a step already, and has gone on since
    waits: str = ""  # what it waits for a person for
    waits_since: str = ""  # ISO 8601
    judged: int = 0  # commands that it was about to run
    blocked: int = 0
    asked: int = 0
    # By conversation and model: what was used since the run began, as the ledger writes usage.
    used: Mapping[str, Any] = {}
    limits: tuple[str, ...] = ()  # sentences about limits of what may be used that were reached
    granted: Mapping[str, float] = {}  # what counts in the place of a limit; 0 for none

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Reported":
        """Return what a document has; a field of an unexpected type counts as missing."""
        return cls(
            session=text(record.get("session")),
            transcript=text(record.get("transcript")),
            prompts=whole(record.get("prompts")),
            prompt=text(record.get("prompt")),
            prompted_at=text(record.get("prompted_at")),
            turn=text(record.get("turn")),
            answers=text(record.get("answers")),
            is_new=record.get("is_new") is True,
            seen=whole(record.get("seen")),
            in_turn=record.get("in_turn") is True,
            is_kept=record.get("is_kept") is True,
            waits=text(record.get("waits")),
            waits_since=text(record.get("waits_since")),
            judged=whole(record.get("judged")),
            blocked=whole(record.get("blocked")),
            asked=whole(record.get("asked")),
            used=mapping(record.get("used")),
            limits=words(record.get("limits")),
            granted=_numbers(record.get("granted")),
        )

    def is_late(self, turn: str) -> bool:
        """Tell whether the end of a turn is that of another than the one under way."""
        return bool(turn and self.answers) and turn != self.answers

    def as_record(self) -> dict[str, Any]:
        """Return the fields of the document; those without a value are left out."""
        return said(**self._asdict())


def _numbers(value: object) -> dict[str, float]:
    found = mapping(value).items()
    return {name: it for name, it in found if isinstance(it, int | float)}


def prompts_of(layout: TaskLayout, run_id: str) -> int:
    """Return how many prompts the agent of a run has reported."""
    found = read_reported(layout, run_id)
    return 0 if found is None else found.prompts


def first_line(prompt: str) -> str:
    """Return the first line of a prompt that says something, cut for a list."""
    line = next((line.strip() for line in prompt.splitlines() if line.strip()), "")
    return line if len(line) <= _LONGEST_TITLE else line[: _LONGEST_TITLE - 1].rstrip() + "…"


def read_reported(layout: TaskLayout, run_id: str) -> Reported | None:
    """Return what the agent of a run has reported; None if nothing, or if nobody can tell."""
    return read_reported_in(layout.runs_dir / f"{run_id}{AGENT}")


def read_reported_in(path: Path) -> Reported | None:
    """Return what an agent has reported, as a file has it; None if nothing, or nobody can tell."""
    with suppress(SidingError, OSError):
        document = read_document_or_none(path, what="what an agent reported", version=_VERSION)
        return None if document is None else Reported.from_record(document)
    return None


def write_reported(layout: TaskLayout, run_id: str, reported: Reported) -> None:
    """Write down what an agent has reported. Raises OSError."""
    write_reported_in(layout.runs_dir / f"{run_id}{AGENT}", reported)


def write_reported_in(path: Path, reported: Reported) -> None:
    """Replace the file with what an agent has reported. Raises OSError."""
    replace_small(path, encode_document({"version": _VERSION, **reported.as_record()}))
