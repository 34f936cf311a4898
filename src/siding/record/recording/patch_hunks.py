"""Where the hunks of a recorded patch are: found in one pass, so that a screen can jump to each."""

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.output.reading import Span
from siding.record.recording.recorded_patches import FilePart, hunk_numbers, lines_from


class HunkAt(NamedTuple):
    """A hunk of a file: its header's row, and where its lines are on both sides."""

    row: int
    old: int
    old_count: int
    new: int
    new_count: int


def hunks_of(span: Span, part: FilePart) -> list[HunkAt]:
    """Return the hunks of a file. Reads all its rows."""
    if not part.marks:
        return []
    found: list[HunkAt] = []
    old_owed = new_owed = 0
    for row, line in enumerate(lines_from(span, part.marks[0].offset)):
        if row >= part.rows:
            break
        first = line[:1]
        if old_owed <= 0 and new_owed <= 0 and first == b"@":
            old, old_owed, new, new_owed = hunk_numbers(line)
            found.append(HunkAt(row, old, old_owed, new, new_owed))
        elif first != b"\\":
            old_owed -= first != b"+"
            new_owed -= first != b"-"
    return found
