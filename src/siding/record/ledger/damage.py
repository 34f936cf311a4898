"""Find the lines of a ledger that cannot be read, and the step numbers that they still occupy."""

import re
from pathlib import Path

from siding.ground.errors import FileTooLarge
from siding.ground.files.regular import read_bytes
from siding.ground.ids import step_id
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.journals import Entry, Journal
from siding.record.ledger.step import step_from

# Bytes. Reading every line costs about 10 ms per MiB; a reading command may spend a tenth of that.
LOOKED_AT = 1 << 17
_STEP_ID = re.compile(rb'"step_id" ?: ?"(\d{1,18})"')


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
