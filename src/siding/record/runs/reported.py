"""What the agent of a run has reported so far: ``runs/<id>.agent``, one JSON object.

The run's broker writes it; it is not flushed, and goes with the run's record. What matters later is
in the run's step. Of an agent that was started without a run it is ``agents/<hash>.agent``.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none
from siding.ground.storage.fields import mapping, said, text, whole, words
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.writes import encode_document
from siding.record.runs.file_names import AGENT
from siding.record.runs.small_files import replace_small

_VERSION = 1
_LONGEST_TITLE = 72
_BETWEEN = " · "
_NAMED = 4  # prompts in a title
_MOST_NOTES = 20


class Reported(NamedTuple):
    """What an agent has reported. Its texts are without secrets, and untrusted."""

    session: str = ""  # the newest conversation
    transcript: str = ""
    prompts: int = 0  # how many there were
    prompt: str = ""  # that the newest turn began with
    besides: tuple[str, ...] = ()  # further prompts that it began with
    later: tuple[str, ...] = ()  # prompts that were typed while that turn ran
    began_at: int = 0  # the size of the transcript when that turn began
    prompted_at: str = ""  # ISO 8601
    turn: str = ""  # the agent's own id of it
    answers: str = ""  # its id of what it answers: that prompt, or the end of a helper in its turn
    is_new: bool = False  # the conversation began in this run, as far as the agent says
    seen: int = 0  # the newest step at that prompt: what was taken back until then, the agent knows
    in_turn: bool = False  # the turn of the newest prompt is not over
    is_kept: bool = False  # that turn has a step already, and has gone on since
    woken_by: str = ""  # what has ended in the background, if that turn goes on because of it
    copy: str = ""  # the conversation that is a copy without what was taken back
    copy_of: str = ""  # and of which one
    without: str = ""  # the agent's own id of the first turn that it leaves out
    waits: str = ""  # what it waits for a person for
    waits_since: str = ""  # ISO 8601
    judged: int = 0  # commands that it was about to run
    blocked: int = 0
    asked: int = 0
    # By conversation and model: what was used since the run began, as the ledger writes usage.
    used: Mapping[str, Any] = {}
    limits: tuple[str, ...] = ()  # sentences about limits of what may be used that were reached
    notes: tuple[str, ...] = ()  # sentences about calls that had no verdict, or no answer
    granted: Mapping[str, float] = {}  # what counts in the place of a limit; 0 for none

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Reported":
        """Return what a document has; a field of an unexpected type counts as missing."""
        return cls(
            session=text(record.get("session")),
            transcript=text(record.get("transcript")),
            prompts=whole(record.get("prompts")),
            prompt=text(record.get("prompt")),
            besides=words(record.get("besides")),
            later=words(record.get("later")),
            began_at=whole(record.get("began_at")),
            prompted_at=text(record.get("prompted_at")),
            turn=text(record.get("turn")),
            answers=text(record.get("answers")),
            is_new=record.get("is_new") is True,
            seen=whole(record.get("seen")),
            in_turn=record.get("in_turn") is True,
            is_kept=record.get("is_kept") is True,
            woken_by=text(record.get("woken_by")),
            copy=text(record.get("copy")),
            copy_of=text(record.get("copy_of")),
            without=text(record.get("without")),
            waits=text(record.get("waits")),
            waits_since=text(record.get("waits_since")),
            judged=whole(record.get("judged")),
            blocked=whole(record.get("blocked")),
            asked=whole(record.get("asked")),
            used=mapping(record.get("used")),
            limits=words(record.get("limits")),
            notes=words(record.get("notes")),
            granted=_numbers(record.get("granted")),
        )

    def is_late(self, turn: str) -> bool:
        """Tell whether the end of a turn is that of another than the one under way."""
        return bool(turn and self.answers) and turn != self.answers

    @property
    def is_nothing(self) -> bool:
        """Whether neither the agent nor anybody beside it has said anything yet."""
        said = (self.session, self.transcript, self.prompts, self.judged, self.limits, self.notes)
        return not any(said)

    @property
    def is_in_copy(self) -> bool:
        """Whether the newest conversation is the copy."""
        return bool(self.copy_of) and self.session == self.copy

    def is_of_turn(self, turn: str) -> bool:
        """Tell whether a prompt was typed while a turn goes on, and is of it: it has its id.

        So report Claude Code and Codex.
        """
        goes_on = self.in_turn and self.prompts > 0 and not self.woken_by
        return goes_on and bool(turn) and turn == self.answers

    def begun(self, prompts: tuple[str, ...], at: str, size: int) -> "Reported":
        """Return what is known as a turn begins; `size` is that of the transcript."""
        return self._replace(
            prompt=prompts[0],
            besides=prompts[1:],
            later=(),
            prompted_at=at,
            began_at=max(0, size),
            in_turn=True,
            is_kept=False,
            woken_by="",
            waits="",
        )

    def woken(self, by: str, at: str) -> "Reported":
        """Return what is known when something in the background has ended and wakes the agent.

        What it did, and what comes of it, is of the newest turn.
        """
        later: tuple[str, ...] = ()
        woken = self._replace(in_turn=True, is_kept=True, woken_by=by, later=later)
        return woken._replace(prompted_at=at, waits="")

    def gone_on(self, turn: str) -> "Reported":
        """Return what is known when the agent may have gone on by itself with what was typed.

        It does when a person has interrupted it, and reports no prompt. Then the turn under way has
        the work on both: from outside it was one.
        """
        if not self.in_turn or not turn:
            return self
        if not self.answers and not self.turn:
            return self._replace(turn=turn, answers=turn)
        if self.later and self.answers and turn != self.answers:
            return self._replace(answers=turn)
        return self

    def noting(self, sentence: str) -> "Reported":
        """Return this with one more sentence, said once; only so many are kept."""
        if not sentence or sentence in self.notes or len(self.notes) >= _MOST_NOTES:
            return self
        return self._replace(notes=(*self.notes, sentence))

    def as_record(self) -> dict[str, Any]:
        """Return the fields of the document; those without a value are left out."""
        return said(**self._asdict())


def _numbers(value: object) -> dict[str, float]:
    found = mapping(value).items()
    return {name: it for name, it in found if isinstance(it, int | float)}


def title_of(prompts: Sequence[str], most: int = _LONGEST_TITLE) -> str:
    """Return the first lines of prompts as one title: each has its share of `most` characters."""
    lines = [line for line in map(first_line, prompts) if line]
    if len(lines) > _NAMED:
        return f"{title_of(lines[: _NAMED - 1], most - 10)} · {len(lines) - _NAMED + 1} more"
    left = most - len(_BETWEEN) * (len(lines) - 1)
    found: list[str] = []
    for at, line in sorted(enumerate(lines), key=lambda each: len(each[1])):
        share = max(1, left // (len(lines) - len(found)))
        lines[at] = line if len(line) <= share else line[: share - 1].rstrip() + "…"
        left -= len(lines[at])
        found.append(lines[at])
    return _BETWEEN.join(lines)


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
