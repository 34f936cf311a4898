"""The rows of the selector. Pure."""

from siding.faces.tui.rows.lines import Pieces, fitted
from siding.faces.tui.rows.styles import TEXT, Look
from siding.faces.tui.selector.model import MAIN, End, Entry, Row, Selector
from siding.faces.tui.text import cells, inert
from siding.statusline.words import tokens

MOST_ROWS = 7  # with main; others are counted
_GAP = 2  # columns between what stands left and right
_FOCUSED_HINT = "↑/↓ to select · Enter to view"


def hint(selector: Selector) -> str:
    """Return what is said of the keys."""
    entry = selector.entry(selector.highlighted)
    end = "" if entry is None else (" · x to stop" if entry.is_running else " · x to clear")
    if selector.is_focused:
        return f"{_FOCUSED_HINT}{end}"
    return "↓ to select"


def rows_of_selector(selector: Selector, width: int, look: Look, now: float) -> list[Pieces]:
    """Return the rows, each exactly `width` wide; none if nothing works beside."""
    if not selector.rows:
        return []
    listed = [_main(selector, width, look)]
    listed += [_entry(selector, row, width, look, now) for row in selector.rows]
    if len(listed) <= MOST_ROWS:
        return listed
    return _window(selector, listed, width)


def _window(selector: Selector, listed: list[Pieces], width: int) -> list[Pieces]:
    """Return main, the rows around what stands out, and how many are not shown."""
    room = MOST_ROWS - 2
    at = selector.keys.index(selector.highlighted) if selector.highlighted in selector.keys else 0
    first = max(1, min(at - room // 2, len(listed) - room))
    hidden = len(listed) - 1 - room
    return [
        listed[0],
        *listed[first : first + room],
        fitted([(f"  {hidden} more", "dim")], width),
    ]


def _mark(look: Look, name: str, *, is_highlighted: bool) -> str:
    return look.mark(name if is_highlighted else "hollow")


def _main(selector: Selector, width: int, look: Look) -> Pieces:
    is_highlighted = selector.highlighted == MAIN
    style = "bold" if is_highlighted else TEXT
    mark = _mark(look, "runs", is_highlighted=is_highlighted)
    return _sides([(f"{mark} main", style)], hint(selector), width, look)


def _entry(selector: Selector, row: Row, width: int, look: Look, now: float) -> Pieces:
    entry = row.entry
    is_highlighted = selector.highlighted == entry.key
    style = "bold" if is_highlighted else TEXT
    left: Pieces = [
        (_state(entry, look, is_highlighted=is_highlighted), _style_of(entry)),
        (f" {inert(entry.name)}", style),
        (f"  {inert(entry.about)}" if entry.about else "", style),
    ]
    return _sides(left, _beside(row, now), width, look)


def _state(entry: Entry, look: Look, *, is_highlighted: bool) -> str:
    if entry.is_running or is_highlighted:
        return _mark(look, "runs", is_highlighted=is_highlighted)
    return look.mark("bad" if entry.end is End.FAILED else "good")


def _style_of(entry: Entry) -> str:
    if entry.is_running:
        return "good"
    return "bad" if entry.end is End.FAILED else "dim"


def _beside(row: Row, now: float) -> str:
    entry = row.entry
    said = [duration(entry.lasted_s(now) * 1000)]
    if entry.tokens:
        said.append(f"↓ {tokens(entry.tokens)} tokens")
    if not entry.is_running:
        said.append(entry.end.value)
    if row.leaves_at is not None:
        said.append(f"leaves in {max(0, round(row.leaves_at - now))}s")
    return " · ".join(said)


def _sides(left: Pieces, right: str, width: int, look: Look) -> Pieces:
    """Return a row with something at its right, which goes where there is no room for both."""
    end = look.mark("ellipsis")
    room = width - cells(right) - _GAP
    if room < min(24, width // 2):
        return fitted(left, width, end=end)
    return [*fitted(left, room, end=end), (" " * _GAP, TEXT), (right, "dim")]


def duration(milliseconds: float) -> str:
    """Return ``0s``, ``23s``, ``1m 2s``, ``1h 0m 0s`` or ``1d 1h 1m``."""
    if milliseconds < 60_000:
        return f"{int(milliseconds // 1000)}s"
    seconds = int(milliseconds / 1000 + 0.5)
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, left = divmod(rest, 60)
    if days:
        return f"{days}d {hours}h {minutes}m"
    if hours:
        return f"{hours}h {minutes}m {left}s"
    return f"{minutes}m {left}s"
