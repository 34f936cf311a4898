"""Read a run's journal, and append to it.

One process has the run (its lock), so the writer keeps the file open and takes no lock for a line.
Many lines are flushed at once: whoever wants one on disk waits for the next flush.

A last line that a killed writer left torn is closed and does not count. Any other damage stops the
reading: a result that was paid for must not be lost in silence. After a write or a flush that
failed nothing more is written: the bytes before it may be gone.
"""

import os
from collections.abc import Iterable, Sequence
from errno import EIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from siding.files.durable import flush, flush_dir, write_all
from siding.files.regular import open_with_stat
from siding.namedtuples import NamedTuple
from siding.storage.codec import encode_line
from siding.storage.errors import NotStorable
from siding.storage.journals import TORN, Journal
from siding.storage.lines import MAX_LINE_BYTES
from siding.workflows.errors import DamagedJournal
from siding.workflows.journal.records import (
    Answer,
    AttemptLine,
    Begun,
    Drop,
    JournalLine,
    line_from,
)


class Recorded(NamedTuple):
    """What a journal says: the answers that count, and the calls that were at work at its end.

    A call that was made again has an answer of before and is at work. `attempts` are the processes
    that have worked on the run, oldest first. `scripts` says of each path which script, with which
    arguments, made the call.
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
            open_ = one.path in self.begun
            is_same = self.scripts.get(one.path) == script
            return [one.path, one.id, one.fingerprint, kind, seq, value, is_same, open_]

        fresh = [one for one in self.begun.values() if not self._is_made_again(one)]
        made_anew = {one.path for one in fresh}
        return [
            *(
                line(one, one.outcome, one.seq, one.result.get("output"))
                for one in self.answers.values()
                if one.path not in made_anew
            ),
            *(line(one, "", -1, None) for one in fresh),
        ]

    def _is_made_again(self, begun: Begun) -> bool:
        """Tell whether the call that is at work has an answer of before, to be compared with."""
        answer = self.answers.get(begun.path)
        return answer is not None and answer.fingerprint == begun.fingerprint


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
            case Drop():
                _forget(answers, line.paths)
                _forget(begun, line.paths)
            case AttemptLine():
                attempts.append(line)
                torn = False  # that attempt was told
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


def encoded(line: JournalLine) -> bytes:
    """Return a line as it is written. Raises NotStorable if no reader could read it."""
    raw = encode_line(line.as_record()) + b"\n"
    if len(raw) > MAX_LINE_BYTES:
        raise NotStorable(f"a line of {len(raw)} bytes is over the limit of {MAX_LINE_BYTES}")
    return raw


class JournalWriter:
    """Appends to a journal. The caller holds the run's lock."""

    def __init__(self, path: Path) -> None:
        Journal(path).close_last_line()
        self._fd, status = open_with_stat(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._has_failed = False
        if status.st_size == 0:
            flush_dir(path.parent)

    def write(self, lines: Sequence[JournalLine], *, flushed: bool = True) -> None:
        """Append lines in one write; when this returns they survive a power cut, if `flushed`.

        Raises NotStorable, and has written nothing. Raises OSError: then none, some or all of them
        may be there, nobody may be answered, and every later write fails, too.
        """
        self.write_encoded([encoded(line) for line in lines], flushed=flushed)

    def write_encoded(self, lines: Sequence[bytes], *, flushed: bool = True) -> None:
        """Do as `write` does, with lines from `encoded`."""
        if self._has_failed:
            raise OSError(EIO, "an earlier write of the journal failed")
        self._has_failed = True
        write_all(self._fd, b"".join(lines))
        if flushed:
            flush(self._fd)
        self._has_failed = False

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
