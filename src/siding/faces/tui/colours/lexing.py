"""Find the colours of a file with pygments. Only the helper process imports this.

The meaning of a line depends on all lines above it, so a file is coloured as a whole or not at all.
"""

import time
from functools import lru_cache
from typing import Any

from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]

from siding.faces.tui.colours.packed import KINDS, FileColours, Packer

_PATIENCE_S = 5.0  # for one file; some lexers are far slower than others
_LOOK_EVERY = 2000  # tokens between looks at the clock
_KINDS = (
    ("Token.Comment", "c-comment"),
    ("Token.Keyword", "c-keyword"),
    ("Token.Literal.String", "c-string"),
    ("Token.Literal.Number", "c-number"),
    ("Token.Name.Function", "c-function"),
    ("Token.Name.Class", "c-function"),
    ("Token.Name.Decorator", "c-decorator"),
    ("Token.Name.Builtin", "c-builtin"),
    ("Token.Name.Tag", "c-keyword"),
    ("Token.Name.Attribute", "c-function"),
    ("Token.Operator.Word", "c-keyword"),
)


def colours_of(name: str, text: str) -> FileColours | None:
    """Return the colours of a text; None for an unknown language, or if it takes too long."""
    lexer = _lexer(name)
    if lexer is None:
        return None
    end = time.monotonic() + _PATIENCE_S
    packer = Packer()
    column = 0
    for count, (token, value) in enumerate(lexer.get_tokens(_one_to_one(text))):
        if count % _LOOK_EVERY == 0 and time.monotonic() > end:
            return None
        kind = _kind(str(token))
        for number, piece in enumerate(value.split("\n")):
            if number:
                packer.end_line()
                column = 0
            if kind is not None:
                packer.add(column, column + len(piece), kind)
            column += len(piece)
    return packer.done()


def _one_to_one(text: str) -> str:
    """Return the text so that pygments leaves out no character of it.

    It would make a line end of a carriage return, and drop a mark of the byte order.
    """
    if text.startswith("\ufeff"):
        text = " " + text[1:]
    return text.replace("\r", " ")


@lru_cache(maxsize=256)
def _lexer(name: str) -> Any:
    try:
        return get_lexer_for_filename(name.rpartition("/")[2], stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _kind(token: str) -> int | None:
    return next((KINDS.index(kind) for prefix, kind in _KINDS if token.startswith(prefix)), None)
