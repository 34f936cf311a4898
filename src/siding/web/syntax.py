"""Syntax colours for windows of a file: pygments' tokens as a handful of classes."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from siding.web.rendering import escaped

LONGEST = 200_000  # characters that are coloured; more is shown plain
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


def coloured(name: str, lines: Sequence[str]) -> list[str]:
    """Return each line as HTML, coloured by the file's name; plain when nothing is known of it."""
    lexer = _lexer(name.strip('"'))
    text = "\n".join(line.replace("\r", "\u240d") for line in lines)
    if lexer is None or len(text) > LONGEST or not text.strip():
        return [escaped(line) for line in lines]
    rows: list[list[str]] = [[]]
    for kind, value in lexer.get_tokens(text):
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
