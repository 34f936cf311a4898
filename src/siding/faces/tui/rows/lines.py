"""A line as it is drawn: inert text with spans of style, cut into rows of pieces. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise

from siding.faces.tui.rows.styles import TEXT
from siding.faces.tui.rows.wrap import Part, wrap
from siding.faces.tui.text import (
    TAB,
    Span,
    cells,
    head,
    inert,
    is_inert,
    isolated,
    left_out,
)
from siding.ground.namedtuples import NamedTuple

Pieces = list[tuple[str, str]]  # text and the name of its style


class Line(NamedTuple):
    """Text that is inert and has no tabs. Its spans are sorted and do not overlap."""

    text: str
    spans: Sequence[Span] = ()


def line_of(text: str, spans: Iterable[Span] = (), *, tab: int = TAB) -> Line:
    """Return what is drawn of a line from outside: tabs filled, what is hidden spelled out.

    The spans are of the text as it was.
    """
    if is_inert(text):
        return Line(text, tuple(spans))
    places = [0]
    shown: list[str] = []
    gone = left_out(text)
    used = at = 0
    for place, character in enumerate(text):
        if character == "\t":
            drawn = " " * (tab - used % tab)
        elif character < "\x7f" and character.isprintable():
            drawn = character
        else:
            drawn = "" if place in gone else inert(character)
        shown.append(drawn)
        used += cells(drawn)
        at += len(drawn)
        places.append(at)
    moved = [Span(places[a], places[b], style) for a, b, style in spans if places[a] < places[b]]
    return Line("".join(shown), tuple(moved))


def overlay(spans: Sequence[Span], over: Sequence[Span]) -> list[Span]:
    """Return the spans with others laid over them: `a+b` where both are."""
    if not over:
        return list(spans)
    edges = sorted({edge for span in (*spans, *over) for edge in span[:2]})
    found: list[Span] = []
    for start, end in pairwise(edges):
        below = _style_at(spans, start)
        above = _style_at(over, start)
        style = "+".join(filter(None, (below, above)))
        if style:
            found.append(Span(start, end, style))
    return found


def _style_at(spans: Sequence[Span], place: int) -> str:
    at = bisect_left(spans, (place + 1,)) - 1
    if at >= 0 and spans[at].start <= place < spans[at].end:
        return spans[at].style
    return ""


def rows_of(line: Line, width: int, style: str = TEXT) -> list[Pieces]:
    """Return the rows of a line. What has no span has `style`; spans are laid over it."""
    text, spans = line
    parts = wrap(text, width)
    if not spans:
        return [[(isolated(text[start:end]), style)] for start, end in parts]
    return [_pieces(text, spans, part, style) for part in parts]


def _pieces(text: str, spans: Sequence[Span], part: Part, style: str) -> Pieces:
    start, end = part
    first = bisect_left(spans, (start,))
    if first and spans[first - 1].end > start:
        first -= 1
    found: Pieces = []
    at = start
    for span in spans[first:]:
        if span.start >= end:
            break
        begin, stop = max(span.start, start), min(span.end, end)
        if begin > at:
            found.append((text[at:begin], style))
        if stop > begin:
            name = span.style if style == TEXT else f"{style}+{span.style}"
            found.append((text[begin:stop], name))
            at = stop
    if at < end or not found:
        found.append((text[at:end], style))
    return _isolate(found, text[start:end])


def _isolate(pieces: Pieces, text: str) -> Pieces:
    if text.isascii() or isolated(text) is text:
        return pieces
    (first, style), (last, last_style) = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return [(f"\u2068{first}\u2069", style)]
    return [(f"\u2068{first}", style), *pieces[1:-1], (f"{last}\u2069", last_style)]


def hits(text: str, word: str) -> list[Span]:
    """Return where a word is in a text, without regard to case."""
    if not word:
        return []
    folded = text.lower()
    if len(folded) != len(text):  # "İ" and few others grow: then case counts
        folded = text
    else:
        word = word.lower()
    found = []
    at = folded.find(word)
    while at >= 0:
        found.append(Span(at, at + len(word), "hit"))
        at = folded.find(word, at + len(word))
    return found


def fitted(pieces: Pieces, width: int, *, right: bool = False, end: str = "…") -> Pieces:
    """Return pieces cut or filled to exactly `width` cells."""
    used = sum(cells(text) for text, _ in pieces)
    if used <= width:
        room = (" " * (width - used), TEXT)
        if used == width:
            return list(pieces)
        return [room, *pieces] if right else [*pieces, room]
    found: Pieces = []
    left = width - cells(end)
    if left < 0:
        return [(" " * width, TEXT)]
    for text, style in pieces:
        kept = head(text, left)
        left -= cells(kept)
        if len(kept) < len(text):
            found.append((kept + end + " " * left, style))
            break
        found.append((text, style))
    return found
