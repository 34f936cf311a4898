"""Ripples behind the panel, from its last position: what is drawn where it has no text. Pure."""

import math
from collections.abc import Sequence

from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.styles import TEXT
from siding.faces.tui.text import cells

FRAME_S = 0.06
_REACH = 40.0  # columns
_NEAR = 6.0
# (from which strength, character), with Unicode and without. Each is one column wide.
_STRENGTHS = ((0.9, "▓"), (0.7, "▒"), (0.5, "░"), (0.3, "∙"), (0.1, "·"))
_ASCII = ((0.9, "#"), (0.7, "*"), (0.5, "+"), (0.3, "-"), (0.1, "."))
_CRESTS, _ASCII_CRESTS = "~◌○◑●", "~oO0@"
_CREST = 0.97
_CREST_MS = 120.0  # how long a crest has one character


def character(strength: float, time_ms: float, *, is_ascii: bool = False) -> str:
    """Return what is drawn at a strength of 0 to 1."""
    if strength >= _CREST:
        crests = _ASCII_CRESTS if is_ascii else _CRESTS
        return crests[int(time_ms / _CREST_MS) % len(crests)]
    table = _ASCII if is_ascii else _STRENGTHS
    return next((drawn for least, drawn in table if strength >= least), " ")


def strength(column: int, row: int, source: tuple[int, int], time_ms: float) -> float:
    """Return how strong the ripples are in a place, 0 to 1."""
    across, down = column - source[0], (row - source[1]) * 1.5
    distance = math.sqrt(across * across + down * down)
    wave = math.sin(distance * 0.4 - time_ms * 0.012)
    found = max(0.0, wave) * max(0.0, 1 - distance / _REACH)
    if distance < _NEAR:
        found = max(found, 0.5 + 0.5 * math.sin(time_ms * 0.02 - distance * 1.2))
    return found


def ripple_line(
    row: int, width: int, source: tuple[int, int], time_ms: float, *, is_ascii: bool = False
) -> str:
    """Return the ripples of one row."""
    return "".join(
        character(strength(column, row, source, time_ms), time_ms, is_ascii=is_ascii)
        for column in range(width)
    )


def merged(text: Pieces, behind: str) -> Pieces:
    """Return a row with ripples where it is blank. What is written is always in front.

    A single blank between two words belongs to them.
    """
    found: Pieces = []
    at = 0
    for piece, style in text:
        if piece.isspace() and len(piece) > 1:
            found.append((behind[at : at + len(piece)].ljust(len(piece)), "dim"))
        else:
            found.append((piece, style))
        at += cells(piece)
    rest = behind[at:]
    return [*found, (rest, "dim")] if rest.strip() else found


def with_ripples(
    rows: Sequence[Pieces],
    width: int,
    source: tuple[int, int],
    time_ms: float,
    *,
    is_ascii: bool = False,
    only: int | None = None,
) -> list[Pieces]:
    """Return the rows of a panel with ripples behind them; `only` in one row, if it is given."""
    return [
        merged(_gaps(each), ripple_line(number, width, source, time_ms, is_ascii=is_ascii))
        if only is None or number == only
        else each
        for number, each in enumerate(rows)
    ]


def _gaps(row: Pieces) -> Pieces:
    """Return a row in which blanks at the ends of a piece are pieces of their own."""
    found: Pieces = []
    for text, style in row:
        body = text.strip(" ")
        if not body or body == text:
            found.append((text, style))
            continue
        before = len(text) - len(text.lstrip(" "))
        behind = len(text) - before - len(body)
        parts = [(" " * before, TEXT), (body, style), (" " * behind, TEXT)]
        found += [each for each in parts if each[0]]
    return found
