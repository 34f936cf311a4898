"""The lines of home: a heading for each state, its rows, and below each row those of its parts.

Pure. A section is the state that a row had when the list was put in order: a row that changes its
state meanwhile stays where it is, and says the new one itself.
"""

from collections.abc import Iterable, Mapping, Sequence

from siding.feed.model import Row, State
from siding.ground.namedtuples import NamedTuple

TITLES: Mapping[State, str] = {
    State.WAITS: "WAITS ON YOU",
    State.BROKE: "BROKE",
    State.READY: "READY TO APPLY",
    State.RUNS: "RUNS",
    State.RESTS: "RESTS",
    State.DONE: "DONE TODAY",
}
QUIET = (State.RESTS, State.DONE)  # closed at first, `z` opens them


class Heading(NamedTuple):
    """The beginning of a section."""

    section: State
    many: int
    is_open: bool = True

    @property
    def key(self) -> str:
        return f"~{self.section}"


class Item(NamedTuple):
    """A row in its section. `depth` is 0 for a task, 1 for what works in it, and so on."""

    row: Row
    section: State
    depth: int = 0
    is_last: bool = True  # of those below the same row

    @property
    def key(self) -> str:
        return self.row.key


HomeLine = Heading | Item


def lines_of(
    rows: Sequence[Row], section_of: Mapping[str, State], *, is_open: bool
) -> list[HomeLine]:
    """Return the lines of rows that are in order.

    `section_of` says by key where a row at the top stands; without it, its state does. `is_open`:
    what rests and what is done is listed, too; else only how many there are.
    """
    keys = {row.key for row in rows}
    below: dict[str, list[Row]] = {}
    top: dict[State, list[Row]] = {}
    for row in rows:
        if row.parent in keys and row.parent != row.key:
            below.setdefault(row.parent, []).append(row)
        else:
            top.setdefault(section_of.get(row.key, row.state), []).append(row)
    lines: list[HomeLine] = []
    for section in State:
        found = top.get(section, [])
        if not found:
            continue
        shown = is_open or section not in QUIET
        lines.append(Heading(section, len(found), shown))
        if shown:
            for row in found:
                lines += _with_parts(Item(row, section), below)
    return lines


def _with_parts(item: Item, below: dict[str, list[Row]]) -> list[Item]:
    found, parts = [item], below.pop(item.key, [])
    for row in parts:
        part = Item(row, item.section, item.depth + 1, is_last=row is parts[-1])
        found += _with_parts(part, below)
    return found


def items(lines: Iterable[HomeLine]) -> list[Item]:
    """Return the lines that can be chosen."""
    return [line for line in lines if isinstance(line, Item)]
