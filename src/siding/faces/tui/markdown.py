"""Split Markdown that streams in into lines that are final, and the open block. Pure.

Each complete line is given away once. A line of code is final when it ends. Other text is a block
(paragraph, list, quote, table) until a blank line ends it; only the open block is read again when
more comes. A link that is defined further down stays text.
"""

import re
from collections.abc import Iterable
from copy import copy
from enum import StrEnum

from siding.ground.namedtuples import NamedTuple

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([^`]*)$")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])\s+")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_QUOTE = re.compile(r" {0,3}> ?")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_TABLE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?\s*$")


class Kind(StrEnum):
    """What a line is."""

    TEXT = "text"
    HEADING = "heading"
    ITEM = "item"
    QUOTE = "quote"
    CODE = "code"
    FENCE = "fence"  # the line that opens or closes code
    TABLE = "table"
    RULE = "rule"
    BLANK = "blank"


class Block(NamedTuple):
    """A line of the document: a paragraph is one, however many lines it was written in.

    `code` numbers the fences, so that the lines of one can be coloured together.
    """

    kind: Kind
    text: str
    level: int = 0  # of a heading; the indent of an item or its further lines
    language: str = ""  # of code
    code: int = 0


class Splitter:
    """Takes text in pieces. `done` grows; `open` is what the last block is so far."""

    def __init__(self) -> None:
        self._rest = ""  # after the last line feed
        self._lines: list[str] = []  # of the open block
        self._fence = ""
        self._language = ""
        self._codes = 0

    def feed(self, piece: str) -> list[Block]:
        """Return the blocks that are final now."""
        *whole, self._rest = (self._rest + piece).split("\n")
        found: list[Block] = []
        for line in whole:
            found += self._take(line)
        return found

    def end(self) -> list[Block]:
        """Return the blocks that are left at the end of the text."""
        found = self._take(self._rest) if self._rest else []
        self._rest = ""
        found += self._close()
        self._fence = ""
        return found

    @property
    def open(self) -> list[Block]:
        """Return what is not final yet, as it would be if nothing more came."""
        other = copy(self)
        other._lines = list(self._lines)
        return other.end()

    def _take(self, line: str) -> list[Block]:
        line = line.removesuffix("\r")
        if self._fence:
            return self._in_code(line)
        fence = _FENCE.match(line)
        if fence:
            found = self._close()
            self._fence, self._language = fence.group(1), fence.group(2).strip().split(" ")[0]
            self._codes += 1
            block = Block(Kind.FENCE, self._language, language=self._language, code=self._codes)
            return [*found, block]
        if not line.strip():
            return [*self._close(), Block(Kind.BLANK, "")]
        if _HEADING.match(line):
            return [*self._close(), *_blocks([line])]
        self._lines.append(line)
        return []

    def _in_code(self, line: str) -> list[Block]:
        closing = _FENCE.match(line)
        if closing and not closing.group(2) and closing.group(1).startswith(self._fence):
            self._fence = ""
            return [Block(Kind.FENCE, "", code=self._codes)]
        return [self._code(line)]

    def _code(self, line: str) -> Block:
        return Block(Kind.CODE, line, language=self._language, code=self._codes)

    def _close(self) -> list[Block]:
        found = _blocks(self._lines)
        self._lines = []
        return found


def split(text: str) -> list[Block]:
    """Return the blocks of a whole text."""
    splitter = Splitter()
    return splitter.feed(text) + splitter.end()


def _blocks(lines: list[str]) -> list[Block]:
    """Return lines without a blank one between them as blocks."""
    found: list[Block] = []
    for number, line in enumerate(lines):
        heading = _HEADING.match(line)
        following = lines[number + 1] if number + 1 < len(lines) else ""
        last = found[-1] if found else None
        if heading:
            found.append(Block(Kind.HEADING, heading.group(2) or "", level=len(heading.group(1))))
        elif last and last.kind is Kind.TEXT and _UNDERLINE.match(line):
            level = 1 if "=" in line else 2
            found[-1] = Block(Kind.HEADING, last.text, level=level)
        elif _RULE.match(line):
            found.append(Block(Kind.RULE, ""))
        elif (_TABLE.match(following) and "|" in line) or (last and last.kind is Kind.TABLE):
            found.append(Block(Kind.TABLE, line.strip()))
        elif item := _ITEM.match(line):
            indent = len(item.group(1).expandtabs(4))
            text = f"{item.group(2)} {line[item.end() :]}"
            found.append(Block(Kind.ITEM, text, level=indent))
        elif quote := _QUOTE.match(line):
            found.append(Block(Kind.QUOTE, line[quote.end() :]))
        elif last and last.kind in (Kind.TEXT, Kind.ITEM, Kind.QUOTE):
            found[-1] = last._replace(text=f"{_joined(last.text)}{line.strip()}")
        else:
            found.append(Block(Kind.TEXT, line.strip()))
    return found


def _joined(text: str) -> str:
    """Return text with what joins it to the next line: a hard break stays one."""
    return text.removesuffix("\\").rstrip() + " "


class Run(NamedTuple):
    """Text of a line in one style: "", bold, italic, bold-italic, strike, code or link."""

    text: str
    style: str = ""


_INLINE = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`)(?P<inside>.+?)(?<!`)(?P=ticks)(?!`))"
    r"|(?P<escaped>\\[!-/:-@\[-`{-~])"
    r"|!?\[(?P<label>[^\[\]]*)\]\((?P<address>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)"
    r"|<(?P<auto>(?:https?|mailto):[^<>\s]+)>"
    r"|(?P<mark>\*{1,3}|_{1,3}|~~)"
)


def inline(text: str) -> list[Run]:
    """Return the runs of a line. A link shows its address, which a person has to see."""
    found: list[Run] = []
    styles: list[str] = []
    at = 0

    def add(piece: str, style: str = "") -> None:
        if piece:
            found.append(Run(piece, style or _style(styles)))

    for match in _INLINE.finditer(text):
        add(text[at : match.start()])
        at = match.end()
        if match["code"]:
            inside = match["inside"]
            add(
                inside[1:-1] if inside[:1] == inside[-1:] == " " and inside.strip() else inside,
                "code",
            )
        elif match["escaped"]:
            add(match["escaped"][1])
        elif match["auto"]:
            add(match["auto"], "link")
        elif match["label"] is not None:
            add(match["label"])
            add(f" ({match['address']})" if match["label"] else match["address"], "link")
        elif not _emphasis(text, match, styles):
            add(match["mark"])
    add(text[at:])
    return _merged(found)


def _emphasis(text: str, match: "re.Match[str]", styles: list[str]) -> bool:
    """Open or close an emphasis; False if the mark is text."""
    mark = match["mark"]
    before, after = text[: match.start()][-1:], text[match.end() :][:1]
    if mark in styles and before and not before.isspace():
        if mark[0] == "_" and after.isalnum():
            return False
        styles.remove(mark)
        return True
    opens = bool(after) and not after.isspace() and text.find(mark, match.end() + 1) > 0
    if mark[0] == "_" and before.isalnum():
        opens = False
    if opens and mark not in styles:
        styles.append(mark)
        return True
    return False


def _style(styles: list[str]) -> str:
    sizes = {len(mark) for mark in styles if mark[0] in "*_"}
    bold, italic = sizes & {2, 3}, sizes & {1, 3}
    if bold and italic:
        return "bold-italic"
    if bold or italic:
        return "bold" if bold else "italic"
    return "strike" if "~~" in styles else ""


def _merged(runs: Iterable[Run]) -> list[Run]:
    found: list[Run] = []
    for run in runs:
        if found and found[-1].style == run.style:
            found[-1] = Run(found[-1].text + run.text, run.style)
        else:
            found.append(run)
    return found
