"""`Transcript`: what was said, done and printed in a task, line by line.

It is made of parts by key: a prompt, what the agent said, a tool, output. A part may be replaced,
and the text of an agent and the output of a tool may grow. An item of the widget is a line.
"""

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from typing import Any

from siding.faces.tui.markdown import Block, Kind, Splitter, inline
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.lines import Line, Pieces, fitted, hits, line_of, overlay, rows_of
from siding.faces.tui.rows.output import Lines
from siding.faces.tui.rows.styles import PLAIN_LOOK, TEXT, Look
from siding.faces.tui.rows.wrap import height
from siding.faces.tui.text import Span, cells, cut, inert
from siding.ground.namedtuples import NamedTuple

_NAMES = 9  # cells of the column of names
_INDENT = 13  # of output below a tool


class Prompt(NamedTuple):
    """What somebody said to the agent."""

    text: str
    who: str = "you"
    beside: str = ""  # a line of ours below it


class Said(NamedTuple):
    """What the agent said, as Markdown. It may grow by `Transcript.more`."""

    text: str = ""
    who: str = "agent"


class Tool(NamedTuple):
    """A call of a tool: one line, and below it what it printed, when it is opened."""

    name: str
    about: str
    result: str = ""
    took: str = ""
    state: str = "good"  # runs, good, bad or waits; "" for what is no call
    output: Lines | None = None


class Output(NamedTuple):
    """What a program printed."""

    lines: Lines


class Note(NamedTuple):
    """A line of Siding's own, in a style."""

    text: str
    style: str = "dim"


class Notes(NamedTuple):
    """Lines of Siding's own below what was said, each in a style."""

    lines: Sequence[tuple[str, str]]


Part = Prompt | Said | Tool | Output | Note | Notes


class _Shown:
    """A part with its lines."""

    def __init__(self, key: str, part: Part) -> None:
        self.key = key
        self.part = part
        self.version = 0
        self.splitter: Splitter | None = None
        self.lines: list[Block | Line] = []
        self.open: list[Block] = []
        self.output: Lines | None = None
        self.head = 0
        if isinstance(part, Prompt):
            self.lines = [line_of(text) for text in part.text.split("\n")]
            if part.beside:
                self.lines.append(_styled(part.beside, "dim"))
        elif isinstance(part, Notes):
            self.lines = [_styled(text, style) for text, style in part.lines]
        elif isinstance(part, Said):
            self.splitter = Splitter()
            self.lines = list(self.splitter.feed(part.text))
            self.open = self.splitter.open
        elif isinstance(part, Note):
            self.lines = [line_of(part.text)]
        else:
            self.output = part.output if isinstance(part, Tool) else part.lines
            self.head = int(isinstance(part, Tool))
        self.told = len(self.output) if self.output is not None else 0

    @property
    def count(self) -> int:
        return self.head + self.told + len(self.lines) + len(self.open)

    def line(self, number: int) -> Block | Line | None:
        """Return a line; None for the one of the tool itself."""
        if number < self.head:
            return None
        if self.output is not None:
            return self.output.line(number - self.head)
        if number < len(self.lines):
            return self.lines[number]
        return self.open[number - len(self.lines)]


class Transcript(Rows):
    """Parts by key, one below the other. The end is followed while it is on the screen."""

    FOLLOWS = True

    def __init__(self, *, look: Look = PLAIN_LOOK, **words: Any) -> None:
        super().__init__(look=look, **words)
        self._parts: list[_Shown] = []
        self._by_key: dict[str, int] = {}
        self._firsts: list[int] = []  # the first item of each part
        self._unfolded: set[str] = set()
        self._folding = False

    # Parts

    def put(self, key: str, part: Part) -> None:
        """Add a part at the end, or replace the one with this key where it is."""
        shown = _Shown(key, part)
        number = self._by_key.get(key)
        if number is None:
            self._by_key[key] = len(self._parts)
            self._firsts.append(self.count)
            self._parts.append(shown)
            is_folded = isinstance(part, Tool) and key not in self._unfolded
            self.appended(shown.head if is_folded else shown.count)
            if is_folded:
                self.hidden(self.count, shown.count - shown.head)
            return
        old = self._parts[number]
        shown.version = old.version + 1
        self._parts[number] = shown
        self._resized(number, 0, old.count, shown.count)

    def more(self, key: str, piece: str) -> None:
        """Add to what an agent says."""
        number = self._by_key[key]
        shown = self._parts[number]
        assert shown.splitter is not None, f"{key} is no text of an agent"
        final = len(shown.lines)
        before = len(shown.open)
        shown.lines += shown.splitter.feed(piece)
        shown.open = shown.splitter.open
        self._resized(number, final, before, len(shown.lines) - final + len(shown.open))

    def ended(self, key: str) -> None:
        """Say that an agent's text is complete."""
        number = self._by_key[key]
        shown = self._parts[number]
        if shown.splitter is None:
            return
        final, before = len(shown.lines), len(shown.open)
        shown.lines += shown.splitter.end()
        shown.open = []
        self._resized(number, final, before, len(shown.lines) - final)

    def grown(self, key: str) -> None:
        """Take in what the output of a part has grown by; it was looked for before."""
        number = self._by_key[key]
        shown = self._parts[number]
        if shown.output is None:
            return
        told, now = shown.told, len(shown.output)
        shown.told = now
        last = 1 if told else 0
        self._resized(number, shown.head + told - last, last, now - told + last)

    def drop(self, key: str) -> None:
        """Take a part away."""
        number = self._by_key.pop(key)
        shown = self._parts.pop(number)
        first = self._firsts.pop(number)
        for later in self._parts[number:]:
            self._by_key[later.key] -= 1
        self._firsts[number:] = [each - shown.count for each in self._firsts[number:]]
        self.removed(first, shown.count)

    def drop_first(self, most: int) -> int:
        """Take the oldest parts away until there are at most so many lines; return how many."""
        parts = lines = 0
        while self.count - lines > most and parts < len(self._parts) - 1:
            lines += self._parts[parts].count
            self._by_key.pop(self._parts[parts].key)
            self._unfolded.discard(self._parts[parts].key)
            parts += 1
        if parts:
            del self._parts[:parts]
            self._firsts = [each - lines for each in self._firsts[parts:]]
            self._by_key = {each.key: number for number, each in enumerate(self._parts)}
            self.removed(0, lines)
        return parts

    def clear(self) -> None:
        """Take all parts away."""
        self._parts, self._by_key, self._firsts = [], {}, []
        self._unfolded.clear()
        self.following = True
        self.replaced(0)

    def item_of(self, key: str) -> int:
        """Return the first item of a part; KeyError if it is not there."""
        return self._firsts[self._by_key[key]]

    def lines_of(self, key: str) -> int:
        """Return how many lines a part has on the screen; KeyError if it is not there."""
        return self._parts[self._by_key[key]].count

    def _resized(self, number: int, at: int, before: int, after: int) -> None:
        """Take in that lines of a part from `at` on were `before` and are `after` now."""
        first = self._firsts[number] + at
        grown = after - before
        if grown:
            self._firsts[number + 1 :] = [each + grown for each in self._firsts[number + 1 :]]
        same = min(before, after)
        if grown > 0:
            self.inserted(first + same, grown)
        elif grown < 0:
            self.removed(first + same, -grown)
        if same:
            self.changed(first, same)

    def _number(self, item: int) -> int:
        return bisect_right(self._firsts, item) - 1

    # Folds

    def foldable(self) -> list[str]:
        """Return the keys of the parts that have something to fold."""
        return [
            each.key
            for each in self._parts
            if isinstance(each.part, Tool) and each.output is not None
        ]

    def key_at(self, item: int) -> str:
        """Return the key of the part that an item is of; "" if there is none."""
        return self._parts[self._number(item)].key if 0 <= item < self.count else ""

    def has(self, key: str) -> bool:
        """Tell whether there is a part with this key."""
        return key in self._by_key

    def is_open(self, key: str) -> bool:
        """Tell whether the output below a tool is shown."""
        return key in self._unfolded

    def toggle(self, key: str) -> None:
        """Show the output below a tool, or hide it."""
        self.fold([key], key in self._unfolded)

    def fold(self, keys: Sequence[str], is_folded: bool) -> None:
        """Fold the output of tools, or unfold it. The screen is settled once for all of them."""
        self._folding = True
        try:
            for key in keys:
                self._fold(key, is_folded)
        finally:
            self._folding = False
        self._settle()

    def show_part(self, key: str) -> None:
        """Unfold a part, and bring it to the top with the cursor on it; KeyError if not there."""
        if key in self.foldable() and not self.is_open(key):
            self.toggle(key)
        item = self.item_of(key)
        self.stand_on(item)
        self.go_to_item(item)

    def _settle(self) -> None:
        if not self._folding:
            super()._settle()

    def _fold(self, key: str, is_folded: bool) -> None:
        number = self._by_key[key]
        shown = self._parts[number]
        if isinstance(shown.part, Tool) and (key in self._unfolded) is is_folded:
            (self._unfolded.discard if is_folded else self._unfolded.add)(key)
            first, rest = self._firsts[number] + shown.head, shown.count - shown.head
            self.changed(self._firsts[number])
            if is_folded:
                self.hidden(first, rest)
            else:
                self.changed(first, rest)

    def reveal(self, item: int) -> None:
        """Unfold the tool that an item belongs to."""
        shown = self._parts[self._number(item)]
        if self._is_hidden(shown, item - self._firsts[self._number(item)]):
            self.toggle(shown.key)

    def _is_hidden(self, shown: _Shown, place: int) -> bool:
        return isinstance(shown.part, Tool) and place > 0 and shown.key not in self._unfolded

    # As `Rows` asks

    def measure(self, item: int, width: int) -> int:
        """Return how many rows a line takes."""
        number = self._number(item)
        shown, place = self._parts[number], item - self._firsts[number]
        if self._is_hidden(shown, place):
            return 0
        line = shown.line(place)
        if line is None:
            return 1
        return height(self._drawn(shown, line).text, max(1, width - self._indent(shown, line)))

    def paint(self, item: int, width: int) -> list[Pieces]:
        """Return the rows of a line, the first of a part with a name before it."""
        number = self._number(item)
        shown, place = self._parts[number], item - self._firsts[number]
        line = shown.line(place)
        if line is None:
            return [self._tool(shown, width)]
        indent = self._indent(shown, line)
        text = self._drawn(shown, line)
        text = Line(text.text, overlay(text.spans, hits(text.text, self.word)))
        rows = rows_of(text, max(1, width - indent), self._style(shown, line))
        first: Pieces = self._speaker(shown, place, indent)
        return [
            [*(first if at == 0 else [(" " * indent, TEXT)]), *row] for at, row in enumerate(rows)
        ]

    def _speaker(self, shown: _Shown, place: int, indent: int) -> Pieces:
        if place == 0 and isinstance(shown.part, Prompt | Said) and indent >= _NAMES:
            who = cut(inert(shown.part.who), _NAMES - 1)
            style = "you" if isinstance(shown.part, Prompt) else "agent"
            return [(who, style), (" " * (indent - cells(who)), TEXT)]
        return [(" " * indent, TEXT)]

    def _indent(self, shown: _Shown, line: Block | Line) -> int:
        if isinstance(shown.part, Prompt | Said):
            level = line.level if isinstance(line, Block) and line.kind is Kind.ITEM else 0
            code = 2 if isinstance(line, Block) and line.kind is Kind.CODE else 0
            return _NAMES + min(level, 12) + code
        if isinstance(shown.part, Notes):
            return _NAMES
        if isinstance(shown.part, Tool):
            return _INDENT
        return 0

    def _drawn(self, shown: _Shown, line: Block | Line) -> Line:
        """Return a line as text with its own spans."""
        del shown
        return line if isinstance(line, Line) else _of_block(line, self.look)

    def _style(self, shown: _Shown, line: Block | Line) -> str:
        if isinstance(shown.part, Note):
            return shown.part.style
        if not isinstance(line, Block):
            return TEXT
        styles = {Kind.HEADING: "heading", Kind.QUOTE: "quote", Kind.FENCE: "dim", Kind.RULE: "dim"}
        return styles.get(line.kind, TEXT)

    def _tool(self, shown: _Shown, width: int) -> Pieces:
        part = shown.part
        assert isinstance(part, Tool)
        fold = self.look.mark("open" if self.is_open(shown.key) else "folded")
        state = self.look.mark(part.state) if part.state else " "
        end = self.look.mark("ellipsis")
        took = f" {inert(part.took)}" if part.took else ""
        room = max(0, width - cells(took))
        left: Pieces = [
            (f"{fold if shown.output is not None else ' '} ", "fold"),
            (f"{state} ", part.state or "dim"),
            (f"{inert(part.name):<6} ", "tool"),
            (inert(part.about), TEXT if part.state else "dim"),
            (f"  {inert(part.result)}" if part.result else "", part.state or "dim"),
        ]
        if self.word:
            left = [piece for each in left for piece in _with_hits(*each, self.word)]
        return [*fitted(left, room, end=end), (took, "dim")]

    def text_of(self, item: int) -> str:
        """Return the text of a line."""
        number = self._number(item)
        shown = self._parts[number]
        line = shown.line(item - self._firsts[number])
        if line is None:
            assert isinstance(shown.part, Tool)
            return f"{shown.part.name} {shown.part.about} {shown.part.result}"
        return self._drawn(shown, line).text

    def key_of(self, item: int) -> Hashable:
        """Return the part, its version and the number of the line in it."""
        number = self._number(item)
        shown = self._parts[number]
        return shown.key, shown.version, item - self._firsts[number]


def _styled(text: str, style: str) -> Line:
    return line_of(text, [Span(0, len(text), style)] if text else [])


def _with_hits(text: str, style: str, word: str) -> Pieces:
    line = Line(text, overlay((), hits(text, word)))
    return rows_of(line, max(1, cells(text)), style)[0] if text else []


def _of_block(block: Block, look: Look) -> Line:
    """Return the text of a block of Markdown, with its emphasis as spans."""
    if block.kind in (Kind.CODE, Kind.TABLE):
        return line_of(block.text)
    if block.kind is Kind.FENCE:
        return Line(look.mark("dash") * 3 + (f" {inert(block.text)}" if block.text else ""))
    if block.kind is Kind.RULE:
        return Line(look.mark("line") * 20)
    text, spans = "", []
    for run in inline(block.text):
        if run.style:
            spans.append(Span(len(text), len(text) + len(run.text), run.style))
        text += run.text
    found = line_of(text, spans)
    if block.kind is Kind.QUOTE:
        bar = look.mark("bar") + " "
        moved = [Span(a + len(bar), b + len(bar), style) for a, b, style in found.spans]
        return Line(bar + found.text, moved)
    if block.kind is Kind.ITEM and found.text[:2] in ("- ", "* ", "+ "):
        return Line(look.mark("bullet") + found.text[1:], found.spans)
    return found
