"""One row of home as one line: its columns go one after the other where there is no room. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime

from siding.faces.tui.places.home.sections import QUIET, TITLES, Heading, Item
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.text import cells, cut, fit, inert, isolated
from siding.feed.model import Ask, AskKind, Row, RowKind, State
from siding.feed.moments import moment_of
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple

# Widths at which a column is there. What is said and the name always are.
_AGE_AT, _PROJECT_AT, _AGENT_AT, _FIGURES_AT = 50, 72, 88, 96
_AGE, _AGENT, _FIGURES = 4, 8, 12
_SAYS: Mapping[AskKind, str] = {
    AskKind.QUESTION: "asks: ",
    AskKind.PERMISSION: "permission: ",
    AskKind.GATE: "gate: ",
    AskKind.AGENT: "waits at its screen: ",
    AskKind.CONFLICT: "",
    AskKind.BLOCKED: "refused: ",
    AskKind.FAILURE: "",
    AskKind.WORKFLOW: "",
    AskKind.CHAT: "",
    AskKind.HOOKS: "",
}


class Widths(NamedTuple):
    """How wide each column is; 0: it is not there. `what` takes the rest."""

    project: int
    name: int
    what: int
    agent: int
    age: int
    figures: int


class Marks(NamedTuple):
    """What stands before a row."""

    slot: int = 0
    is_pinned: bool = False
    is_unseen: bool = False
    is_selected: bool = False


def widths_for(width: int) -> Widths:
    """Return the columns that fit into a width."""
    project = 0 if width < _PROJECT_AT else 10 if width < 120 else 14
    name = max(12, min(36, width * 22 // 100))
    age = _AGE if width >= _AGE_AT else 0
    agent = _AGENT if width >= _AGENT_AT else 0
    figures = _FIGURES if width >= _FIGURES_AT else 0
    used = 5 + name + sum(each + 1 for each in (project, age, agent, figures) if each)
    return Widths(project, name, max(8, width - used - 1), agent, age, figures)


def row_pieces(
    item: Item,
    marks: Marks,
    asks: Mapping[str, Ask],
    now: float,
    width: int,
    *,
    dot: str = "•",
    branches: tuple[str, str] = ("├ ", "└ "),
) -> Pieces:
    """Return the pieces of a row, no wider than `width`."""
    row, its = item.row, widths_for(width)
    slot = str(marks.slot) if marks.slot else " "
    chosen = "+" if marks.is_selected else " "
    pieces: Pieces = [
        (chosen, "bold"),
        (f"{slot}{'=' if marks.is_pinned else ' '}", "code"),
        (f"{dot if marks.is_unseen else ' '} ", "waits"),
    ]
    if its.project:
        shown = "" if item.depth else row.project_name
        pieces.append((_cell(shown, its.project) + " ", "dim"))
    tree = ""
    if item.depth:
        tree = "  " * (item.depth - 1) + branches[item.is_last]
    look = "bold" if row.state is State.WAITS or marks.is_unseen else "text"
    pieces.append((_cell(tree + _named(row), its.name) + " ", look))
    pieces.append((_cell(_what(item, asks, now), its.what), _look(row)))
    if its.agent:
        pieces.append((" " + _cell(row.agent, its.agent), "dim"))
    if its.age:
        pieces.append((" " + fit(age(row.since, now), its.age, right=True), "dim"))
    if its.figures:
        pieces += figures_pieces(row, its.figures)
    return pieces


def heading_pieces(heading: Heading, width: int, *, done_before: int = 0) -> Pieces:
    """Return the pieces of the line above a section."""
    title = TITLES[heading.section]
    told = "" if heading.section not in QUIET else f" {heading.many}"
    pieces: Pieces = [(cut(f"{title}{told}", width), "title")]
    if not heading.is_open:
        pieces.append(("   z opens"[: max(0, width - cells(title + told))], "dim"))
    elif heading.section is State.DONE and done_before:
        more = f"   and {counted(done_before, 'task')} before: siding task list --all"
        pieces.append((cut(more, max(0, width - cells(title + told))), "dim"))
    return pieces


def figures_pieces(row: Row, width: int) -> Pieces:
    """Return `+26 -2` at the right end of its column; blanks if nothing is to be applied."""
    if not (row.files or row.additions or row.deletions):
        return [(" " * (width + 1), "text")]
    plus, minus = f"+{short(row.additions)}", f" -{short(row.deletions)}"
    room = width + 1 - len(plus) - len(minus)
    return [(" " * room, "text"), (plus, "good"), (minus, "bad")]


def short(count: int) -> str:
    """Return a number in at most four characters: `126`, `12k`, `3M`."""
    for limit, size, unit in ((10_000, 1, ""), (1_000_000, 1_000, "k"), (10**9, 10**6, "M")):
        if count < limit:
            return f"{count // size}{unit}"
    return "999M"


def age(since: str, now: float) -> str:
    """Return how long ago an ISO 8601 moment was: `23s`, `4m`, `1h`, `12d`; "" if unknown."""
    at = moment_of(since)
    if not at:
        return ""
    seconds = max(0, int(now - at))
    for limit, size, unit in ((60, 1, "s"), (3600, 60, "m"), (86400, 3600, "h")):
        if seconds < limit:
            return f"{seconds // size}{unit}"
    days = seconds // 86400
    return f"{days}d" if days < 1000 else datetime.fromtimestamp(at, UTC).strftime("%Y")


def _cell(text: str, width: int) -> str:
    """Return a text from outside as a column: inert, on one line, in exactly this width."""
    return isolated(fit(inert(" ".join(text.split())), width))


def _named(row: Row) -> str:
    if row.kind is RowKind.WORKFLOW:
        return f"{row.name} (workflow)"
    return f"chat {row.name}" if row.kind is RowKind.CHAT else row.name


def _look(row: Row) -> str:
    return {State.WAITS: "waits", State.BROKE: "bad", State.DONE: "dim", State.RESTS: "dim"}.get(
        row.state, "text"
    )


def _what(item: Item, asks: Mapping[str, Ask], now: float) -> str:
    row = item.row
    moved = f"[{row.state}] " if row.state is not item.section and not item.depth else ""
    found = [asks[each] for each in row.asks if each in asks]
    if row.state is State.WAITS and found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return f"{moved}{_SAYS[found[0].kind]}{found[0].entry.title}{more}"
    said = row.what
    if row.silent_since and row.state is State.RUNS:
        said = f"no sign for {age(row.silent_since, now)} · {said}".rstrip(" ·")
    if row.queued:
        said = f"{said} (+{counted(row.queued, 'prompt')})"
    if row.left:
        said = f"{said} · {row.left}" if said else row.left
    return f"{moved}{said}"
