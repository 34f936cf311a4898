"""Read a run's journal, and append to it.

One process has the run (its lock), so the writer keeps the file open and takes no lock for a line.
Many lines are flushed at once: whoever wants one on disk waits for the next flush.

A last line that a killed writer left torn is closed and does not count. Any other damage stops the
reading: a result that was paid for must not be lost in silence.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from siding.files.durable import flush, flush_dir, write_all
from siding.files.regular import open_with_stat
from siding.namedtuples import NamedTuple
from siding.storage.codec import encode_line
from siding.storage.journals import TORN, Journal
from siding.workflows.errors import DamagedJournal
from siding.workflows.journal.records import (
    Answer,
    AttemptLine,
    Begun,
    Drop,
    JournalLine,
    Void,
    line_from,
)


class Recorded(NamedTuple):
    """What a journal says: the calls that count, and those that were begun and have no answer.

    `attempts` are the processes that have worked on the run, oldest first. `scripts` says of each
    path which script, with which arguments, made the call.
    """

    answers: dict[str, Answer]
    begun: dict[str, Begun]
    scripts: dict[str, str]
    attempts: tuple[AttemptLine, ...] = ()
    next_seq: int = 0
    has_torn_line: bool = False

    def for_child(self, script: str) -> list[list[Any]]:
        """Return the lines that the process of a script (see `AttemptLine.key`) takes."""

        def line(one: Answer | Begun, kind: str, seq: int, value: Any) -> list[Any]:
            is_same = self.scripts.get(one.path) == script
            return [one.path, one.id, one.fingerprint, kind, seq, value, is_same]

        return [
            *(
                line(one, one.outcome, one.seq, one.result.get("output"))
                for one in self.answers.values()
            ),
            *(line(one, "", -1, None) for one in self.begun.values()),
        ]


def read_journal(path: Path) -> Recorded:
    """Read a journal; one that does not exist has nothing. Raises DamagedJournal, OSError."""
    answers: dict[str, Answer] = {}
    begun: dict[str, Begun] = {}
    scripts: dict[str, str] = {}
    attempts: list[AttemptLine] = []
    next_seq, torn = 0, False
    for index, entry in enumerate(Journal(path).entries()):
        if entry.problem == TORN:
            torn = True
            continue
        line = _line(path, entry.number or 0, index, entry.record, entry.problem)
        if isinstance(line, Answer | Begun):
            scripts[line.path] = attempts[-1].key if attempts else ""
        match line:
            case Answer():
                answers[line.path] = line
                begun.pop(line.path, None)
                next_seq = max(next_seq, line.seq + 1)
            case Begun():
                begun[line.path] = line
            case Void():
                _forget(answers, [one for one in answers if line.covers(one)])
                _forget(begun, [one for one in begun if line.covers(one)])
            case Drop():
                _forget(answers, line.paths)
                _forget(begun, line.paths)
            case AttemptLine():
                attempts.append(line)
    return Recorded(
        answers=answers,
        begun=begun,
        scripts=scripts,
        attempts=tuple(attempts),
        next_seq=next_seq,
        has_torn_line=torn,
    )


def _line(
    path: Path, number: int, index: int, record: dict[str, Any] | None, problem: str | None
) -> JournalLine | None:
    if record is not None:
        try:
            return line_from(record, index)
        except (KeyError, TypeError, ValueError) as error:
            problem = f"{type(error).__name__}: {error}"
    raise DamagedJournal(
        f"line {number} of {str(path)!r} cannot be read: {problem}",
        hint="mend or remove that line: what it recorded is then run again",
    )


def _forget(lines: dict[str, Any], paths: Iterable[str]) -> None:
    for path in paths:
        lines.pop(path, None)


class JournalWriter:
    """Appends to a journal. The caller holds the run's lock."""

    def __init__(self, path: Path) -> None:
        Journal(path).close_last_line()
        self._fd, status = open_with_stat(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        if status.st_size == 0:
            flush_dir(path.parent)

    def write(self, lines: Sequence[JournalLine], *, flushed: bool = True) -> None:
        """Append lines in one write; when this returns they survive a power cut, if `flushed`.

        Raises OSError: then none, some or all of them may be there, and nobody may be answered.
        """
        write_all(self._fd, b"".join(encode_line(line.as_record()) + b"\n" for line in lines))
        if flushed:
            flush(self._fd)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
