"""A task's ledger: ``ledger.jsonl``, an append-only file with one line per step, chained by hashes.

Each line carries ``prev``: the SHA-256 of the bytes of the line before it, without the newline. A
line binds its step's snapshot, output, command and verdict, so a change to any of them would need
every later line to be rewritten. The newest line, which no line names, is anchored (`anchor.py`).
Lines that another tool wrote have no ``prev``; they may only precede the first line that has one.

Lines that cannot be read stay where they are, and keep the step numbers that they occupy.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from siding.ground.errors import FileTooLarge
from siding.ground.files.regular import read_bytes
from siding.ground.hashing import sha256_hex
from siding.ground.ids import step_id
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import parse_object
from siding.ground.storage.journals import Entry, Journal
from siding.record.ledger.kinds import BASE
from siding.record.ledger.step import STEP_VERSION, Step, number_of, step_from

FIRST = "0" * 64  # `prev` of the first line, which has no line before it
_FIRST_TAIL = 100  # steps
# Bytes. Reading every line costs about 10 ms per MiB; a reading command may spend a tenth of that.
LOOKED_AT = 1 << 17
_STEP_ID = re.compile(rb'"step_id" ?: ?"(\d{1,18})"')


def link(previous_line: bytes | None) -> str:
    """Return the ``prev`` of the line that follows `previous_line`."""
    return FIRST if previous_line is None else sha256_hex(previous_line)


class Break(NamedTuple):
    """A line whose ``prev`` is missing or wrong. `line` is its 1-based number."""

    line: int
    reason: str


def breaks(lines: Iterable[tuple[bytes, dict[str, Any] | None]]) -> list[Break]:
    """Return every break in the chain. Each item is a raw line and its record.

    The record is None if the line does not parse.
    """
    found: list[Break] = []
    before: bytes | None = None
    chained = False
    for number, (raw, record) in enumerate(lines, start=1):
        claimed = None if record is None else record.get("prev")
        if record is not None and claimed is None and chained:
            found.append(Break(number, "it has no `prev`, unlike the lines before it"))
        elif claimed is not None:
            chained = True
            if claimed != link(before):
                found.append(Break(number, "its `prev` is not the SHA-256 of the line before it"))
        before = raw
    return found


class LedgerDamage(NamedTuple):
    """A line that is not a step. `line` is 1-based; None if the file was read from its end."""

    line: int | None
    reason: str


class Tail(NamedTuple):
    """The newest steps of a ledger, oldest first. `is_all`: there are no older ones."""

    steps: list[Step]
    is_all: bool


class Ledger:
    """The steps of one task. Reading takes no lock; appending is serialised by the journal."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journal = Journal(path)

    def append(
        self,
        fields: Mapping[str, Any],
        *,
        at_least: int = 1,
        name: Callable[[int], Mapping[str, str]] | None = None,
        more: Callable[[bytes | None], Mapping[str, Any]] | None = None,
    ) -> Step:
        """Append one step with the next number and return it; the line is flushed to disk.

        `at_least` is the smallest number that the step may get. `name` is called with the number,
        under the journal's lock and before the line is written: it renames the step's artifacts and
        returns their names. `more` is called then, too, with the line before, and returns further
        fields of the line.
        """

        def build(before: bytes | None) -> Mapping[str, Any]:
            last = self._last_number(before)
            number = max(at_least, last + 1)
            on = step_id(last) if last else BASE
            line = {"v": STEP_VERSION, "step_id": step_id(number), "on": on, **fields}
            if name is not None:
                line["artifacts"] = dict(name(number))
            if more is not None:
                line.update(more(before))
            line["prev"] = link(before)
            return line

        written, _raw = self._journal.append_built(build)
        return step_from(written)

    def _last_number(self, last_line: bytes | None) -> int:
        if last_line is None:
            return 0
        try:
            return number_of(parse_object(last_line))
        except ValueError:
            last = self.last()  # the last line is damaged: search for the last step before it
            return 0 if last is None else last.number

    def close_last_line(self) -> None:
        """Add the missing newline to a last line that was cut off.

        If only the newline was missing, the line counts as a step from then on.
        """
        self._journal.close_last_line()

    def steps(self) -> Iterator[Step]:
        """Yield every readable step, oldest first."""
        for entry in self._journal.entries():
            step = _step_of(entry)
            if step is not None:
                yield step

    def tail(self, count: int) -> list[Step]:
        """Return the newest `count` steps, oldest first; the cost grows with `count` only."""
        wanted = count
        while True:
            entries = self._journal.tail(wanted)
            steps = [step for entry in entries if (step := _step_of(entry)) is not None]
            if len(steps) >= count or len(entries) < wanted:
                return steps[-count:]
            wanted *= 2  # some of the lines were damaged: read further back

    def growing_tails(self) -> Iterator["Tail"]:
        """Yield more and more of the newest steps, in the end all of them.

        For a question that the newest steps mostly answer: its cost follows how far back one has to
        look, and not the length of the ledger.
        """
        count = _FIRST_TAIL
        while True:
            steps = self.tail(count)
            yield Tail(steps, is_all=len(steps) < count)
            if len(steps) < count:
                return
            count *= 8

    def newest_first(self) -> Iterator[Step]:
        """Yield all steps, the newest first; the cost follows how many are taken."""
        taken = 0
        for steps, _is_all in self.growing_tails():
            older = steps[: len(steps) - taken]
            taken = len(steps)
            yield from reversed(older)

    def last(self) -> Step | None:
        """Return the newest step; None if there is none."""
        newest = self.tail(1)
        return newest[0] if newest else None

    def find(self, number: int) -> Step | None:
        """Return step `number`, or None; the cost grows with its distance from the end.

        If several steps of another tool have that number, the newest of them is returned.
        """
        newest = self.last()
        if newest is None:
            return None
        near: list[Step] = []
        if 0 < number <= newest.number:
            near = self.tail(newest.number - number + 1)
        # Another tool counts on from 9999 with 0000, so the whole file may have to be searched.
        found = [step for step in near if step.number == number] or [
            step for _line, step in self.numbered(number)
        ]
        return found[-1] if found else None

    def numbered(self, number: int) -> list[tuple[int, Step]]:
        """Return every step with this number, and the number of its line; reads the whole file.

        Only steps of other tools can share a number.
        """
        return [
            (entry.number or 0, step)
            for entry in self._journal.entries()
            if (step := _step_of(entry)) is not None and step.number == number
        ]

    def damage(self) -> list[LedgerDamage]:
        """Return every line that is not a step, with the reason."""
        found: list[LedgerDamage] = []
        for entry in self._journal.entries():
            if entry.problem is not None:
                found.append(LedgerDamage(line=entry.number, reason=entry.problem))
            elif _step_of(entry) is None:
                found.append(LedgerDamage(line=entry.number, reason="not a step"))
        return found

    def breaks(self) -> list[Break]:
        """Return every break in the hash chain."""
        return breaks((entry.raw, entry.record) for entry in self._journal.entries())


def _step_of(entry: Entry) -> Step | None:
    if entry.record is None:
        return None
    try:
        return step_from(entry.record)
    except ValueError:
        return None


class DamagedLine(NamedTuple):
    """A line that cannot be read as a step.

    `line` is its 1-based number; None if the ledger was read from its end. `number` is the step
    that the line held; None if that is unknown.
    """

    line: int | None
    number: int | None
    reason: str
    # The writer was killed while it wrote the line. No command had reported the step as recorded,
    # unless later steps or artifacts of the step exist.
    torn: bool

    @property
    def where(self) -> str:
        return (
            "a line near the end of ledger.jsonl"
            if self.line is None
            else (f"line {self.line} of ledger.jsonl")
        )

    def as_record(self) -> dict[str, object]:
        """Return the JSON object that is printed in place of the step."""
        number = None if self.number is None else step_id(self.number)
        return {"step_id": number, "kind": "damaged", "line": self.line, "reason": self.reason}


def damaged_lines(path: Path, *, whole: bool = False) -> list[DamagedLine]:
    """Return the damaged lines, oldest first.

    In a ledger of more than 128 KiB only the last 200 lines are read, unless `whole` is set.

    A torn line is left out if a later line records the same step: its writer was killed, and the
    next command recorded the step.
    """
    journal = Journal(path)
    try:
        is_short = whole or path.stat().st_size <= LOOKED_AT
    except OSError:
        return []
    found: list[DamagedLine] = []
    known: set[int] = set()
    before: int | None = 0
    for entry in journal.entries() if is_short else journal.tail(200):
        reason = entry.problem
        if reason is None and entry.record is not None:
            try:
                before = step_from(entry.record).number
                known.add(before)
                continue
            except ValueError as error:
                reason = f"not a step: {error}"
        # The number is searched in the damaged bytes; else it is one more than the line before has.
        named = _STEP_ID.search(entry.raw)
        before = int(named.group(1)) if named else None if before is None else before + 1
        found.append(_line(entry, before, reason or "not a step"))
    return [each for each in found if not (each.torn and each.number in known)]


def _line(entry: Entry, number: int | None, reason: str) -> DamagedLine:
    torn = reason.startswith("torn")
    return DamagedLine(line=entry.number, number=number or None, reason=reason, torn=torn)


def highest_number(path: Path, newest: int) -> int:
    """Return the highest step number in any line, damaged lines included.

    `newest` is the number of the newest readable step. It is not always the highest: another tool
    restarted at 1 after 9999, and the newest line may be damaged.
    """
    try:
        raw = read_bytes(path, limit=1 << 30)
    except (FileNotFoundError, FileTooLarge):
        return newest
    # A command that itself contains `"step_id"` does not match: JSON escapes its quotation marks.
    return max(newest, *(int(each) for each in _STEP_ID.findall(raw)), 0)
