"""Draw a session at a terminal as an SVG that moves by CSS alone, as GitHub shows it.

Each row is a text that appears when it was shown; the group of all rows moves up when the window is
full. What is typed lies under a cover that moves away a character at a time, the cursor at its
edge. The colours are those that the dashboard gives to output.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from itertools import pairwise
from typing import NamedTuple

from siding.faces.web.ansi import Converter
from tools.pictures.session import CHECKOUT, COLUMNS, ROWS, Scene

CHARACTER, LINE = 8.4, 20  # the size of a cell, in pixels, for type of 14 pixels
EDGE, BAR = 18, 38  # around the rows, and above them
PROMPT = '<tspan class="f-6">~/shop</tspan> <tspan class="f-8">$</tspan> '
PROMPTS = len("~/shop $ ")
TITLE = (
    "A terminal: an agent runs with siding run; its change is shown, tried again, applied, undone"
)
KEY_S, BEFORE_TYPING_S, ENTER_S = 0.042, 0.5, 0.3
WAIT_S = 1.2  # for an agent
AWAY = "translateX(9999px)"  # outside of the window
SHEET = CHECKOUT / "src" / "siding" / "faces" / "web" / "static" / "siding.css"
BACK, INK, FRAME = "#17191d", "#dcdfe4", "#3d444d"


class _Row(NamedTuple):
    """A row of the screen: markup, how many characters it has, and when it appears."""

    markup: str
    length: int
    at_s: float


class _Cover(NamedTuple):
    """What is typed in a row: when its prompt appears, typing begins, ends, and it runs."""

    row: int
    length: int
    at_s: float
    from_s: float
    to_s: float
    end_s: float


class Timed(NamedTuple):
    """All that happens in the picture."""

    rows: list[_Row]
    covers: list[_Cover]
    whole_s: float


def drawn(scenes: Iterable[Scene]) -> str:
    """Return the SVG of a session."""
    timed = timed_rows(scenes)
    width = round(COLUMNS * CHARACTER + 2 * EDGE)
    height = BAR + ROWS * LINE + EDGE
    body = "\n".join([*_rows(timed.rows), *_covers(timed)])
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" \
height="{height}" role="img">
<title>{TITLE}</title>
<style>
{_style(timed, body)}
</style>
<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10" fill="{BACK}" \
stroke="{FRAME}"/>
<circle cx="22" cy="20" r="6" fill="#ff7b72"/><circle cx="42" cy="20" r="6" fill="#e3b341"/>\
<circle cx="62" cy="20" r="6" fill="#7ee08a"/>
<svg x="{EDGE}" y="{BAR}" width="{width - 2 * EDGE}" height="{ROWS * LINE}">
<g id="all" class="all">
{body}
</g>
</svg>
</svg>
"""


def timed_rows(scenes: Iterable[Scene]) -> Timed:
    """Say when each row appears: at once, but for one wait for each agent."""
    rows: list[_Row] = []
    covers: list[_Cover] = []
    now, read_s = 0.0, BEFORE_TYPING_S
    for scene in scenes:
        line = scene.typed.line
        begins = now + read_s
        typed = begins + KEY_S * len(re.sub(" {2,}", " ", line))
        covers.append(_Cover(len(rows), len(line), now, begins, typed, typed + ENTER_S))
        rows.append(_Row(PROMPT + _command(line), PROMPTS + len(line), now))
        now = typed + ENTER_S
        shown = [*_shown(scene)]
        waits = _longest_wait([at_s for at_s, _ in shown]) if scene.typed.has_agent else None
        for number, (_, markup) in enumerate(shown):
            now += WAIT_S if number == waits else 0
            length = len(unescape(re.sub("<[^>]*>", "", markup)))
            assert length <= COLUMNS, f"a row has {length} characters: {markup}"
            rows.append(_Row(markup, length, now))
        read_s = scene.typed.read_s
    whole_s = round(now + read_s, 2)
    covers.append(_Cover(len(rows), 0, now, whole_s, whole_s, whole_s))
    rows.append(_Row(PROMPT, PROMPTS, now))
    return Timed(rows, covers, whole_s)


def _longest_wait(times: Sequence[float]) -> int:
    """Return the number of the row that came longest after the one before."""
    waits = [at_s - before_s for before_s, at_s in pairwise([0.0, *times])]
    return waits.index(max(waits))


def _command(line: str) -> str:
    words, mark, comment = line.partition("#")
    return f'<tspan class="t-bold">{words}</tspan>' + (
        f'<tspan class="f-8">{mark}{comment}</tspan>' if mark else ""
    )


def _shown(scene: Scene) -> Iterator[tuple[float, str]]:
    converter = Converter()
    for piece in scene.pieces:
        for row in converter.feed(piece.shown).closed:
            yield piece.at_s, row.replace("<span", "<tspan").replace("</span", "</tspan")


def _rows(rows: list[_Row]) -> Iterator[str]:
    for number, row in enumerate(rows):
        if row.length:
            place = f'y="{number * LINE + 15}" textLength="{row.length * CHARACTER:g}"'
            yield f'<text id="r{number}" {place}>{row.markup}</text>'


def _covers(timed: Timed) -> Iterator[str]:
    for number, cover in enumerate(timed.covers):
        x, y = PROMPTS * CHARACTER, cover.row * LINE
        size = f'width="{COLUMNS * CHARACTER:g}" height="{LINE}"'
        cursor = f'width="{CHARACTER}" height="{LINE - 3}"'
        yield (
            f'<g id="c{number}" class="cover"><rect x="{x:g}" y="{y}" {size} fill="{BACK}"/>'
            f'<rect x="{x:g}" y="{y + 1}" {cursor} fill="{INK}"/></g>'
        )


def _style(timed: Timed, body: str) -> str:
    moves: dict[float, str] = {}
    for number, row in enumerate(timed.rows):
        moves[row.at_s] = f"transform:translateY({min(0, ROWS - 1 - number) * LINE}px)"
    rules = [
        "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        f"fill:{INK};white-space:pre}}",
        ".t-bold{font-weight:700}.t-dim{opacity:.65}",
        *_colours(body),
        # This is the end, which a person sees who wants nothing to move.
        f".cover{{transform:{AWAY}}}.all{{{moves[timed.rows[-1].at_s]}}}",
        "@media (prefers-reduced-motion:no-preference){",
        f"text,g{{animation:{timed.whole_s:g}s step-end infinite}}",
        *_keyframes("all", moves, timed.whole_s),
    ]
    for number, row in enumerate(timed.rows):
        if row.length and row.at_s:
            appears = {0.0: "opacity:0", row.at_s: "opacity:1"}
            rules += _keyframes(f"r{number}", appears, timed.whole_s)
    for number, cover in enumerate(timed.covers):
        steps = f"animation-timing-function:steps({max(1, cover.length)})"
        moves = {
            0.0: f"transform:{AWAY}",
            cover.at_s: "transform:none",
            cover.from_s: f"transform:none;{steps}",
            cover.to_s: f"transform:translateX({cover.length * CHARACTER:g}px)",
            cover.end_s: f"transform:{AWAY}",
        }
        rules += _keyframes(f"c{number}", moves, timed.whole_s)
    return "\n".join([*rules, "}"])


def _keyframes(name: str, moves: Mapping[float, str], whole_s: float) -> Iterator[str]:
    """Yield the rules by which the element of this name has a style from a moment on."""
    frames = "".join(f"{100 * at_s / whole_s:.3f}%{{{style}}}" for at_s, style in moves.items())
    yield f"@keyframes {name}{{{frames}}}#{name}{{animation-name:{name}}}"


def _colours(body: str) -> Iterator[str]:
    sheet = SHEET.read_text("utf-8")
    for name in sorted(set(re.findall(r"\bf-\w+", body))):
        found = re.search(rf"\.{name} {{ color: (#\w+); }}", sheet)
        assert found, f"siding.css has no colour for {name}"
        yield f".{name}{{fill:{found[1]}}}"
