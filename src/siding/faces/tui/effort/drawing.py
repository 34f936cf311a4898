"""The rows of the panel of efforts: a slider, or a list where there are few columns. Pure."""

from siding.faces.tui.effort.model import POSITIONS, ULTRA_IS, Panel, Position
from siding.faces.tui.foot import wrapped
from siding.faces.tui.rows.lines import Pieces, fitted
from siding.faces.tui.rows.styles import TEXT, Look
from siding.faces.tui.text import cells, cut, fit, inert

NARROW = 60  # columns of the screen; with fewer it is a list
WIDEST = 86
_FASTER, _SMARTER = "Faster", "Smarter"
_SLIDER_HINT = "←/→ choose · enter takes it · esc leaves it"
_LIST_HINT = "↑/↓ · enter · esc"
_LEAVE_HINT = "esc leaves it"


def width_of(columns: int) -> int:
    """Return how wide the panel is on a screen of so many columns."""
    return max(1, min(WIDEST, columns - 4))


def rows_of_panel(panel: Panel, columns: int, look: Look) -> list[Pieces]:
    """Return the rows of the panel, as wide as `width_of` at most."""
    width = width_of(columns)
    head = [_title(panel, width), *_warnings(panel, width)]
    if columns < NARROW:
        rows = [*head, *_listed(panel, look), [(_hint(panel, _LIST_HINT), "dim")]]
    else:
        rows = [*head, *_slider(panel, width, look), [(_hint(panel, _SLIDER_HINT), "dim")]]
    return [_within(each, width, look) for each in rows]


def _within(row: Pieces, width: int, look: Look) -> Pieces:
    if sum(cells(text) for text, _ in row) <= width:
        return row
    return fitted(row, width, end=look.mark("ellipsis"))


def ultra_at(columns: int, row: int) -> tuple[int, int]:
    """Return the column and the row from which ripples come: of the last position."""
    width = width_of(columns)
    return (_middle(Position.ULTRA, width) if columns >= NARROW else 0), row


def _hint(panel: Panel, usual: str) -> str:
    return _LEAVE_HINT if panel.refusal else usual


def _title(panel: Panel, width: int) -> Pieces:
    about = cut(inert(panel.about), max(0, width - 8))
    gap = " " * max(1, width - len("Effort") - cells(about))
    return [("Effort", "bold"), (gap, TEXT), (about, "dim")] if about else [("Effort", "bold")]


def _warnings(panel: Panel, width: int) -> list[Pieces]:
    found: list[Pieces] = []
    if panel.override:
        said = f"! {panel.variable}={inert(panel.override)} goes before what is chosen here"
        found += [[(each, "warn")] for each in wrapped(said, width)]
    if panel.refusal:
        found += [[(each, "warn")] for each in wrapped(inert(panel.refusal), width)]
    return found


def _middle(position: Position, width: int) -> int:
    """Return the column in the middle of a position's part of the slider."""
    part = width // len(POSITIONS)
    return part * POSITIONS.index(position) + part // 2


def _slider(panel: Panel, width: int, look: Look) -> list[Pieces]:
    gap = " " * max(1, width - len(_FASTER) - len(_SMARTER))
    line, mark = look.mark("line"), look.mark("slider")
    at = -1 if panel.refusal else _middle(panel.cursor, width)
    track: Pieces = [(line * width, "dim")]
    if at >= 0:
        track = [(line * at, "dim"), (mark, "bold"), (line * (width - at - 1), "dim")]
    return [
        [],
        [(_FASTER, TEXT), (gap, TEXT), (_SMARTER, TEXT)],
        track,
        _labels(panel, width),
        _active(panel, width),
        [(fit(ULTRA_IS, width, right=True), "dim")],
        [],
    ]


def _labels(panel: Panel, width: int) -> Pieces:
    found: Pieces = []
    part = width // len(POSITIONS)
    for position in POSITIONS:
        is_active = _is_marked(panel, position)
        text = f"({position})" if is_active else str(position)
        style = "dim" if panel.refusal else TEXT
        if is_active or (position is panel.cursor and not panel.refusal):
            style = "bold"
        before = max(0, (part - len(text) + 1) // 2)
        found += [(" " * before, TEXT), (text, style)]
        found.append((" " * max(0, part - before - len(text)), TEXT))
    return found


def _is_marked(panel: Panel, position: Position) -> bool:
    """Tell whether a position has the mark of what holds: where the cursor is, it needs none."""
    return position is panel.active and (position is not panel.cursor or bool(panel.refusal))


def _active(panel: Panel, width: int) -> Pieces:
    """Return the row that has `active` below what holds, when the cursor is elsewhere."""
    if panel.active is None or not _is_marked(panel, panel.active):
        return []
    word = "active"
    return [(" " * max(0, _middle(panel.active, width) - len(word) // 2), TEXT), (word, "good")]


def _listed(panel: Panel, look: Look) -> list[Pieces]:
    found: list[Pieces] = []
    for position in POSITIONS:
        is_cursor = position is panel.cursor and not panel.refusal
        mark = look.mark("cursor") if is_cursor else " "
        row: Pieces = [(f"{mark} {position}", "bold" if is_cursor else TEXT)]
        if position is panel.active:
            row.append(("  active", "good"))
        if position is Position.ULTRA:
            row.append((f"  {ULTRA_IS}", "dim"))
        found.append(row)
    return found
