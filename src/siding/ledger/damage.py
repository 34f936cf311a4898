"""Lines of a ledger that cannot be read, and the step numbers that are in use all the same."""

import re
from pathlib import Path
from typing import NamedTuple

from siding.errors import FileTooLarge
from siding.files.regular import read_bytes
from siding.ids import step_id
from siding.ledger.step import step_from
from siding.storage.journals import Entry, Journal

# A look at every line costs about 10 ms for each megabyte: what a reading command may take.
LOOKED_AT = 1 << 20
_STEP_ID = re.compile(rb'"step_id" ?: ?"(\d{1,18})"')


class DamagedLine(NamedTuple):
    """A line that is no step. `line` is 1-based, None when the ledger was read from its end.

    `number` is the step it was, as far as that can be told.
    """

    line: int | None
    number: int | None
    reason: str
    torn: bool  # what a killed writer leaves: it was promised to nobody, unless something is left

    @property
    def where(self) -> str:
        return (
            "a line near the end of ledger.jsonl"
            if self.line is None
            else (f"line {self.line} of ledger.jsonl")
        )

    def as_record(self) -> dict[str, object]:
        """Return the line as programs see it, in the place of the step."""
        number = None if self.number is None else step_id(self.number)
        return {"step_id": number, "kind": "damaged", "line": self.line, "reason": self.reason}


def damaged_lines(path: Path, *, whole: bool = False) -> list[DamagedLine]:
    """Return the damaged lines, oldest first; of a long ledger those near its end unless `whole`.

    A torn line whose step has a line after it is left out: its writer was killed, and the next
    command recorded the step.
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
        named = _STEP_ID.search(entry.raw)
        before = int(named.group(1)) if named else None if before is None else before + 1
        found.append(_line(entry, before, reason or "not a step"))
    return [each for each in found if not (each.torn and each.number in known)]


def _line(entry: Entry, number: int | None, reason: str) -> DamagedLine:
    torn = reason.startswith("torn")
    return DamagedLine(line=entry.number, number=number or None, reason=reason, torn=torn)


def highest_number(path: Path, newest: int) -> int:
    """Return the highest step number that any line has, damaged or not.

    The newest step's is not always the highest: another tool began again after 9999, and the line
    of the newest may be damaged. A text that a step quotes has its quotation marks escaped.
    """
    try:
        raw = read_bytes(path, limit=1 << 30)
    except (FileNotFoundError, FileTooLarge):
        return newest
    return max(newest, *(int(each) for each in _STEP_ID.findall(raw)), 0)
