"""Colours for source code and Markdown, with pygments' tokens reduced to a few CSS classes.

The meaning of a line depends on all lines above it (a string may be open), so a text is coloured
as a whole or not at all. A text that is too long, or takes too long, is shown without colours:
wrong colours would mislead.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from siding.faces.web.rendering import escaped
from siding.faces.web.text import inert
from siding.ground.prose import html_of

LONGEST = 100_000  # characters that are coloured; they take about a third of a second
_PATIENCE_S = 3.0  # for one text; some lexers of pygments are far slower than others
_LOOK_EVERY = 2000  # tokens between looks at the clock
_KEPT_CHARACTERS = 8_000_000  # of HTML
_CLASSES = (
    ("Token.Comment", "k-c"),
    ("Token.Keyword", "k-k"),
    ("Token.Literal.String", "k-s"),
    ("Token.Literal.Number", "k-n"),
    ("Token.Name.Function", "k-f"),
    ("Token.Name.Class", "k-f"),
    ("Token.Name.Decorator", "k-d"),
    ("Token.Name.Builtin", "k-b"),
    ("Token.Name.Tag", "k-k"),
    ("Token.Name.Attribute", "k-f"),
    ("Token.Operator.Word", "k-k"),
)
_ENDINGS = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "rust": "rs",
    "bash": "sh",
    "shell": "sh",
    "console": "sh",
    "ruby": "rb",
    "golang": "go",
    "yaml": "yml",
}


def coloured(name: str, lines: Sequence[str]) -> list[str] | None:
    """Return the lines of a file as coloured HTML; its name decides the language.

    `lines` must begin with the file's first line. Returns None when the language is not known, or
    the text is too long or takes too long.
    """
    lexer = _lexer(name.strip('"'))
    if lexer is None or sum(map(len, lines)) + len(lines) > LONGEST:
        return None
    text = "\n".join(line.replace("\r", "\u240d") for line in lines)
    if not text.strip():
        return None
    end = time.monotonic() + _PATIENCE_S
    rows: list[list[str]] = [[]]
    for count, (kind, value) in enumerate(lexer.get_tokens(text)):
        if count % _LOOK_EVERY == 0 and time.monotonic() > end:
            return None
        style = _style(str(kind))
        for number, piece in enumerate(value.split("\n")):
            if number:
                rows.append([])
            if piece:
                html = escaped(piece)
                rows[-1].append(f'<span class="{style}">{html}</span>' if style else html)
    found = ["".join(row) for row in rows]
    if len(found) < len(lines):
        found += [""] * (len(lines) - len(found))
    return found[: len(lines)]


class ColouredFile:
    """The lines of one version of a file, as text and as coloured HTML."""

    def __init__(self, lines: list[str], html: list[str]) -> None:
        self._lines = lines
        self._html = html
        self.size = sum(map(len, lines)) + sum(map(len, html))

    def line(self, number: int | None, text: str) -> str | None:
        """Return line `number` (from 1) as HTML if it has this text, else None."""
        if number is None or not 0 < number <= len(self._lines):
            return None
        return self._html[number - 1] if self._lines[number - 1] == text else None


class ColouredFiles:
    """A cache of coloured files by content and name, shared by the pieces of a long patch."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], ColouredFile | None] = OrderedDict()
        self._size = 0

    def get(self, blob: str, name: str, read: Callable[[], str | None]) -> ColouredFile | None:
        """Return a file with its colours, read with `read`; None when it has no colours."""
        key = (blob, name)
        if not blob:
            return None
        if key in self._kept:
            return self._kept[key]
        found = _whole(name, read() if _lexer(name.strip('"')) is not None else None)
        self._kept[key] = found
        self._size += 1000 if found is None else found.size
        while self._size > _KEPT_CHARACTERS and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self._size -= 1000 if gone is None else gone.size
        return found


def _whole(name: str, text: str | None) -> ColouredFile | None:
    if text is None:
        return None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    html = coloured(name, lines)
    return None if html is None else ColouredFile(lines, html)


@lru_cache(maxsize=256)
def _lexer(name: str) -> Any:
    from pygments.lexers import (  # type: ignore[import-untyped]
        get_lexer_for_filename,
    )
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return get_lexer_for_filename(name.rpartition("/")[2], stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _style(kind: str) -> str:
    return next((style for prefix, style in _CLASSES if kind.startswith(prefix)), "")


def markdown(text: str) -> Markup:
    """Return Markdown as harmless HTML; text beyond what `html_of` takes is cut."""
    return Markup(html_of(inert(text), code=_code))


def _code(code: str, language: str) -> str:
    lines = code.split("\n")
    rows = coloured(f"x.{_ENDINGS.get(language, language)}", lines)
    return "\n".join(rows or [escaped(line) for line in lines])
