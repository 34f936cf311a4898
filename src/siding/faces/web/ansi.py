"""Convert terminal output to harmless HTML that keeps colours and weights.

Only the escape sequence SGR ("select graphic rendition", ECMA-48 §8.3.117) has an effect. Other
well-formed sequences, which move the cursor, set titles or talk to the terminal, are dropped;
malformed ones are shown as text. Text that asks to be hidden is shown. A carriage return starts its
line over, as on a terminal, and leaves a mark that text was overwritten.
"""

import re
from codecs import getincrementaldecoder
from html import escape

from siding.faces.web.text import inert
from siding.ground.namedtuples import NamedTuple
from siding.ground.sgr import Style, styled

LONGEST_LINE = 4000  # characters; a longer line goes on in the next row
_LONGEST_ESCAPE = 4096  # characters after which an unfinished sequence is shown as text
_TOKEN = re.compile(
    r"(?P<sgr>\x1b\[[0-9;:]*m)"
    r"|(?P<gone>\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[()*+#%][0-~]|\x1b[=>78cDEHMNOZ]|\x07)"
    r"|(?P<end>\r*\n)|(?P<over>\r+(?![\r\n]))|(?P<text>[^\x1b\r\n\x07]+)|(?P<odd>\x1b)"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[()*+#%])?\Z|\r+\Z")


def _classes(style: Style) -> str:
    """Return the CSS classes of a span; "" for plain text."""
    fore, back = style.colours()
    names = [f"t-{flag}" for flag in sorted(style.flags - {"inverse"})]
    if fore is not None:
        names.append("f-i" if fore < 0 else f"f-{fore}")
    if back is not None:
        names.append("b-i" if back < 0 else f"b-{back}")
    return " ".join(names)


class Rows(NamedTuple):
    """The HTML of some bytes: the rows that are complete, and the unfinished last one."""

    closed: list[str]
    open: str


class Converter:
    """Converts one stream to rows of HTML; the stream may be cut into pieces anywhere."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._style = Style()
        self._line: list[str] = []
        self._length = 0
        self._overwritten = 0

    def feed(self, data: bytes, *, final: bool = False) -> Rows:
        """Convert more bytes. With `final` an unfinished character or sequence is shown too."""
        text = self._pending + self._decoder.decode(data, final)
        self._pending = ""
        if not final:
            cut = _UNFINISHED.search(text, max(0, len(text) - _LONGEST_ESCAPE))
            if cut is not None:
                text, self._pending = text[: cut.start()], text[cut.start() :]
        closed: list[str] = []
        for found in _TOKEN.finditer(text):
            kind = found.lastgroup
            if kind == "text":
                self._add(found.group(), closed)
            elif kind == "end":
                closed.append(self._row())
            elif kind == "sgr":
                self._style = styled(self._style, found.group()[2:-1])
            elif kind == "over":
                if self._length:
                    self._overwritten += 1
                self._line, self._length = [], 0
            elif kind == "odd":
                self._add("\x1b", closed)
        return Rows(closed=closed, open=self._shown())

    def _add(self, text: str, closed: list[str]) -> None:
        while text:
            piece, text = text[: LONGEST_LINE - self._length], text[LONGEST_LINE - self._length :]
            self._length += len(piece)
            shown = escape(inert(piece), quote=False)
            names = _classes(self._style)
            self._line.append(f'<span class="{names}">{shown}</span>' if names else shown)
            if self._length >= LONGEST_LINE:
                closed.append(self._row())

    def _row(self) -> str:
        row = self._shown()
        self._line, self._length, self._overwritten = [], 0, 0
        return row

    def _shown(self) -> str:
        mark = ""
        if self._overwritten:
            times = "once" if self._overwritten == 1 else f"{self._overwritten} times"
            mark = f'<span class="over" title="written over {times}">\u21ba</span>'
        return mark + "".join(self._line)


def palette() -> str:
    """Return the style sheet for the colours 16 to 255; siding.css has the first 16."""
    rules = []
    steps = (0, 95, 135, 175, 215, 255)
    for number in range(16, 256):
        if number < 232:
            place = number - 16
            rgb = (steps[place // 36], steps[place // 6 % 6], steps[place % 6])
        else:
            rgb = (8 + 10 * (number - 232),) * 3
        colour = "#" + "".join(f"{each:02x}" for each in rgb)
        rules.append(f".f-{number}{{color:{colour}}}.b-{number}{{background:{colour}}}")
    return "\n".join(rules) + "\n"
