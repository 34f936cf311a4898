"""Lines that a program printed, with its colours: from memory, or a window of a file at a time.

A file may have a gigabyte. What is kept of it is one number for each 64 KiB, and a few windows.
"""

import re
import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

from siding.faces.tui.rows.lines import Line, line_of
from siding.faces.tui.text import Span
from siding.ground.namedtuples import NamedTuple
from siding.ground.sgr import Style, styled

WINDOW = 1 << 16  # bytes
_KEPT_WINDOWS = 8
LONGEST_LINE = 16_000  # characters that are drawn of a line
_LONGEST_TAIL = 1 << 20  # bytes without an end of a line that are kept
_TOKEN = re.compile(
    r"(?P<sgr>\x1b\[[0-9;:]*m)"
    r"|(?P<gone>\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[()*+#%][0-~]|\x1b[=>78cDEHMNOZ]|\x07)"
    r"|(?P<over>\r+)|(?P<text>[^\x1b\r\x07]+|\x1b)"
)
_UNSEEN = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    rb"|\x1b[()*+#%][0-~]|\x1b[=>78cDEHMNOZ]|\x07"
)
_BEYOND = 4_096  # bytes of the next line, where a line is cut
_SGR = re.compile(rb"\x1b\[([0-9;:]*)m")
Read = Callable[[int, int], bytes]  # offset, size: what is there, less at the end


class Lines(Protocol):
    """Lines by number. They may become more."""

    def __len__(self) -> int: ...

    def line(self, number: int) -> Line:
        """Return a line, inert, with the colours that it was printed in."""

    def look(self) -> int:
        """Look for more; return how many lines are new. The last line may have grown as well."""


class TextLines:
    """Lines in memory."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self._texts = list(texts)
        self._told = len(self._texts)

    def __len__(self) -> int:
        return self._told

    def line(self, number: int) -> Line:
        """Return a line."""
        return drawn(self._texts[number], Style()).line

    def add(self, *texts: str) -> None:
        """Add lines at the end; `look` tells of them."""
        self._texts.extend(texts)

    def look(self) -> int:
        """Return how many lines were added since."""
        new = len(self._texts) - self._told
        self._told = len(self._texts)
        return new


class Window(NamedTuple):
    """Some lines of a file as they were printed. `beyond` goes on in the line that is cut."""

    first: int  # the number of its first line
    data: bytes
    beyond: bytes


class FileLines:
    """The lines of a file that grows, or of a part of one, read by windows.

    `look` may be called in another thread than the one that draws, but not in two at a time.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._offsets = array("Q")  # where each window begins: at the beginning of a line
        self._firsts = array("Q")  # the number of its first line
        self._styles: list[Style] = []  # in force there
        self._end = 0  # up to which the file is divided into windows
        self._count = 0  # lines up to there
        self._style = Style()
        self._tail = b""  # after the last line feed
        self._kept: OrderedDict[int, list[Line]] = OrderedDict()
        self._lock = threading.Lock()  # of the tail, and the number of the line that it is

    def __len__(self) -> int:
        return self._count + bool(self._tail)

    @property
    def size(self) -> int:
        """How many bytes of the file have been looked at."""
        return self._end + len(self._tail)

    def look(self, most: int = 1 << 30) -> int:
        """Read on, up to about `most` bytes; return how many lines are new."""
        before = len(self)
        taken = 0
        while taken < most:
            data = self._read(self._end + len(self._tail), WINDOW)
            if not data:
                break
            taken += len(data)
            with self._lock:
                self._take(data)
        return len(self) - before

    def _take(self, data: bytes) -> None:
        last = data.rfind(b"\n") + 1
        if last:
            self._close(self._tail + data[:last])
            self._tail = data[last:]
        else:
            self._tail += data
            if len(self._tail) >= _LONGEST_TAIL:  # it goes on in the next line
                self._close(self._tail)
                self._tail = b""

    def _close(self, whole: bytes) -> None:
        """Make a window of bytes that end a line."""
        self._offsets.append(self._end)
        self._firsts.append(self._count)
        self._styles.append(self._style)
        self._style = _style_after(self._style, whole)
        self._end += len(whole)
        self._count += whole.count(b"\n") + (not whole.endswith(b"\n"))

    def line(self, number: int) -> Line:
        """Return a line; the last one may be unfinished."""
        if number >= self._count:
            with self._lock:
                tail, style = self._tail, self._style
            return drawn(_text(tail), style).line
        window = bisect_right(self._firsts, number) - 1
        lines = self._kept.get(window)
        if lines is None:
            lines = self._kept[window] = self._window(window)
            if len(self._kept) > _KEPT_WINDOWS:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(window)
        place = number - self._firsts[window]
        return lines[place] if place < len(lines) else Line("")

    def windows(self, numbers: range) -> range:
        """Return the windows that have these lines, in their order: the end is one as well."""
        if not numbers:
            return range(0)
        first, last = sorted(map(self._window_of, (numbers[0], numbers[-1])))
        return range(first, last + 1) if numbers.step > 0 else range(last, first - 1, -1)

    def window(self, window: int) -> Window:
        """Read the lines of a window."""
        with self._lock:
            if window >= len(self._offsets):
                return Window(self._count, self._tail, b"")
        start, end = self._span(window)
        data = self._read(start, end - start)
        beyond = b"" if data.endswith(b"\n") else self._read(end, _BEYOND).partition(b"\n")[0]
        return Window(self._firsts[window], data, beyond)

    def size_of(self, numbers: range) -> int:
        """Return how many bytes the windows of some lines have."""
        found = self.windows(numbers)
        if not found:
            return 0
        first, last = sorted((found[0], found[-1]))
        return self._begin(last + 1) - self._begin(first)

    def _begin(self, window: int) -> int:
        if window < len(self._offsets):
            return self._offsets[window]
        return self._end + (len(self._tail) if window > len(self._offsets) else 0)

    def _window_of(self, number: int) -> int:
        """Return the window of a line; behind the last one is what has no end yet."""
        if number >= self._count:
            return len(self._offsets)
        return bisect_right(self._firsts, number) - 1

    def _span(self, window: int) -> tuple[int, int]:
        last = window + 1 == len(self._offsets)
        return self._offsets[window], self._end if last else self._offsets[window + 1]

    def _window(self, window: int) -> list[Line]:
        start, end = self._span(window)
        style, lines = self._styles[window], []
        for text in self._read(start, end - start).removesuffix(b"\n").split(b"\n"):
            found = drawn(_text(text), style)
            style = found.style
            lines.append(found.line)
        return lines


class Drawn(NamedTuple):
    """A line, and the style in force after it."""

    line: Line
    style: Style


def drawn(text: str, style: Style) -> Drawn:
    """Return what a terminal shows of a printed line: sequences obeyed if they are colours.

    Others are left out; a malformed one is shown. A carriage return starts the line over.
    """
    text = text.rstrip("\r")
    if len(text) > LONGEST_LINE:
        text = f"{text[:LONGEST_LINE]}… {len(text) - LONGEST_LINE:,} more characters"
    if "\x1b" not in text and "\r" not in text and "\x07" not in text:
        spans = [Span(0, len(text), name_of(style))] if style != Style() and text else []
        return Drawn(line_of(text, spans), style)
    shown: list[str] = []
    spans, at = [], 0
    for found in _TOKEN.finditer(text):
        if found.lastgroup == "text":
            piece = found.group()
            shown.append(piece)
            if style != Style():
                spans.append(Span(at, at + len(piece), name_of(style)))
            at += len(piece)
        elif found.lastgroup == "sgr":
            style = styled(style, found.group()[2:-1])
        elif found.lastgroup == "over" and at:
            shown, spans, at = [], [], 0
    return Drawn(line_of("".join(shown), spans), style)


def unseen_left_out(data: bytes) -> bytes:
    """Return output without the sequences that show nothing; it still has returns."""
    return _UNSEEN.sub(b"", data)


def whole_text(data: bytes) -> str:
    """Return the text that is drawn of a printed line, however long it is."""
    text = _text(data).rstrip("\r")
    if "\x1b" in text or "\r" in text or "\x07" in text:
        shown: list[str] = []
        for found in _TOKEN.finditer(text):
            if found.lastgroup == "text":
                shown.append(found.group())
            elif found.lastgroup == "over":
                shown.clear()
        text = "".join(shown)
    return line_of(text).text


def name_of(style: Style) -> str:
    """Return the name of a style that a program asked for; `Styles` knows what it looks like."""
    fore, back = style.colours()
    flags = set(style.flags)
    if (fore is not None and fore < 0) or (back is not None and back < 0):
        fore, back = style.fore, style.back  # inverse with a default colour: the terminal's own
    else:
        flags.discard("inverse")
    numbers = ["" if each is None else str(each) for each in (fore, back)]
    return f"sgr:{numbers[0]}:{numbers[1]}:{','.join(sorted(flags))}"


def _style_after(style: Style, data: bytes) -> Style:
    """Return the style in force after some output: what comes before the last reset is past."""
    last = max(data.rfind(b"\x1b[0m"), data.rfind(b"\x1b[m"))
    if last >= 0:
        style = Style()
    for found in _SGR.finditer(data, max(0, last)):
        style = styled(style, found.group(1).decode())
    return style


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
