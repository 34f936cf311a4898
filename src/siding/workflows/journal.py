"""Read a run's journal, and append to it.

One process has the run (its lock), so the writer keeps the file open and takes no lock for a line.
Many lines are flushed at once: whoever wants one on disk waits for the next flush.

A last line that a killed writer left torn is closed and does not count. Any other line that cannot
be read, or that is missing, stops the reading: a result that was paid for must not be lost in
silence. After a write or a flush that failed nothing more is written: the bytes before it may be
gone.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from errno import EIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from siding.ground.files.durable import flush, flush_dir, write_all
from siding.ground.files.regular import open_with_stat
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.errors import NotStorable
from siding.ground.storage.journals import TORN, Entry, Journal
from siding.ground.storage.lines import MAX_LINE_BYTES
from siding.ground.storage.writes import encode_line
from siding.workflows.errors import RERUN_LOST, DamagedJournal
from siding.workflows.journal_lines import (
    Answer,
    AttemptLine,
    Begun,
    Drop,
    JournalLine,
    Losses,
    Misplaced,
    Place,
    line_from,
    numbered,
    place_of,
)

_SHOWN = 3  # losses that a message names


class Recorded(NamedTuple):
    """What a journal says: the answers that count, and the calls that were at work at its end.

    A call that was made again has an answer of before and is at work. `attempts` are the processes
    that have worked on the run, oldest first. `scripts` says of each path which script, with which
    arguments, made the call. `dropped` are paths whose record was dropped at some time.
    `last_number` is that of the last line, 0 if an older version wrote them all; `lost` and
    `unreadable` are what the next attempt says of the lines before it (see `AttemptLine`), and
    `has_torn_line` whether no attempt has said it yet.
    """

    answers: dict[str, Answer]
    begun: dict[str, Begun]
    scripts: dict[str, str]
    attempts: tuple[AttemptLine, ...] = ()
    next_seq: int = 0
    has_torn_line: bool = False
    dropped: frozenset[str] = frozenset()
    last_number: int = 0
    lost: tuple[tuple[int, int], ...] = ()
    unreadable: int = 0

    def for_child(self, script: str, *, keeps_dead: bool = False) -> list[list[Any]]:
        """Return the lines that the process of a script (see `AttemptLine.key`) takes.

        With `keeps_dead` agents that gave no result are not made again: they have none.
        """

        def line(one: Answer | Begun, kind: str, seq: int, value: Any) -> list[Any]:
            open_ = one.path in self.begun
            is_same = self.scripts.get(one.path) == script
            return [one.path, one.id, one.fingerprint, kind, seq, value, is_same, open_]

        fresh = [one for one in self.begun.values() if not self._is_made_again(one)]
        made_anew = {one.path for one in fresh}
        return [
            *(
                line(one, _kind(one, keeps_dead), one.seq, one.result.get("output"))
                for one in self.answers.values()
                if one.path not in made_anew
            ),
            *(line(one, "", -1, None) for one in fresh),
        ]

    def _is_made_again(self, begun: Begun) -> bool:
        """Tell whether the call that is at work has an answer of before, to be compared with."""
        answer = self.answers.get(begun.path)
        return answer is not None and answer.fingerprint == begun.fingerprint


def read_journal(path: Path, *, accepts_losses: bool = False) -> Recorded:
    """Read a journal; one that does not exist has nothing. Raises DamagedJournal, OSError.

    With `accepts_losses` lines that cannot be read or are missing just do not count.
    """
    reading = _Reading()
    for index, entry in enumerate(Journal(path).entries()):
        reading.take(entry, index)
    if not accepts_losses:
        _refuse_losses(path, reading.losses)
    return reading.recorded()


class _Reading:
    """A journal as far as it has been read."""

    def __init__(self) -> None:
        self.losses = Losses()
        self._answers: dict[str, Answer] = {}
        self._begun: dict[str, Begun] = {}
        self._scripts: dict[str, str] = {}
        self._attempts: list[AttemptLine] = []
        self._dropped: set[str] = set()
        self._next_seq = 0
        self._is_behind_torn = False

    def take(self, entry: Entry, index: int) -> None:
        """Take the next line of the file."""
        number, is_behind_torn = entry.number or 0, self._is_behind_torn
        self._is_behind_torn = entry.problem == TORN
        if entry.record is None:
            self.losses.add_unreadable(number, entry.problem or "", is_torn=self._is_behind_torn)
            return
        try:
            place = place_of(entry.record, entry.raw)
            line = line_from(entry.record, index)
            if place is not None:
                self.losses.add(place)
        except Misplaced as error:
            self.losses.add_unreadable(number, str(error), is_torn=False)
            return
        except (KeyError, TypeError, ValueError) as error:
            problem = f"{type(error).__name__}: {error}"
            self.losses.add_unreadable(number, problem, is_torn=False)
            return
        if is_behind_torn and place is None and not isinstance(line, AttemptLine):
            self.losses.refuse_torn()  # who writes behind a torn line begins an attempt
        self._count(line)

    def _count(self, line: JournalLine | None) -> None:
        if isinstance(line, Answer | Begun):
            self._scripts[line.path] = self._attempts[-1].key if self._attempts else ""
        match line:
            case Answer():
                self._answers[line.path] = line
                self._begun.pop(line.path, None)
                self._next_seq = max(self._next_seq, line.seq + 1)
            case Begun():
                self._begun[line.path] = line
            case Drop():
                _forget(self._answers, line.paths)
                _forget(self._begun, line.paths)
                self._dropped.update(line.paths)
            case AttemptLine():
                self._attempts.append(line)
                self.losses.accept(line.lost, line.unreadable)

    def recorded(self) -> Recorded:
        """Return what the journal says."""
        return Recorded(
            answers=self._answers,
            begun=self._begun,
            scripts=self._scripts,
            attempts=tuple(self._attempts),
            next_seq=self._next_seq,
            has_torn_line=bool(self.losses.newly_unreadable),
            dropped=frozenset(self._dropped),
            last_number=self.losses.last,
            lost=tuple(self.losses.missing),
            unreadable=len(self.losses.unreadable),
        )


def _refuse_losses(path: Path, losses: Losses) -> None:
    """Raise DamagedJournal if something that was on disk is not there any more."""
    missing = losses.newly_missing
    unreadable = [one for one in losses.newly_unreadable if missing or not one.is_torn]
    if not missing and not unreadable:
        return
    said = [f"line {one.line} cannot be read: {one.problem}" for one in unreadable]
    if missing and not unreadable:
        said = [f"{_range(one)} missing" for one in missing]
    more = f", and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
    raise DamagedJournal(
        f"the journal {str(path)!r} is damaged: {'; '.join(said[:_SHOWN])}{more}",
        hint=RERUN_LOST,
    )


def _range(numbers: tuple[int, int]) -> str:
    first, last = numbers
    return f"its line number {first} is" if first == last else f"its lines {first} to {last} are"


def _kind(answer: Answer, keeps_dead: bool) -> str:
    return "skipped" if keeps_dead and answer.outcome == "dead" else answer.outcome


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
    """Appends to a journal. The caller holds the run's lock.

    Of a journal that has lines `begin_behind` says what is there, before the first write.
    """

    def __init__(self, path: Path) -> None:
        Journal(path).close_last_line()
        self._fd, status = open_with_stat(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._has_failed = False
        self.last_number = 0
        self._flushed = 0
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
        write_all(self._fd, b"".join(self._numbered(lines)))
        if flushed:
            flush(self._fd)
            self._flushed = self.last_number
        self._has_failed = False

    def _numbered(self, lines: Sequence[bytes]) -> Iterator[bytes]:
        for line in lines:
            self.last_number += 1
            yield numbered(line, Place(number=self.last_number, flushed=self._flushed))

    def begin_behind(self, recorded: Recorded) -> None:
        """Go on with the numbers of a journal that was read; flush what was read there."""
        if recorded.last_number:
            flush(self._fd)  # a killed writer may have left lines that were not
        self.last_number = self._flushed = recorded.last_number

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
