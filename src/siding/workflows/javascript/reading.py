"""What reads tokens one after the other."""

from collections.abc import Callable
from typing import NoReturn, TypeVar

from siding.workflows.javascript.tokens import Places, Token, TokenKind

_T = TypeVar("_T")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


class Reader:
    """Tokens of a source, and which one is next."""

    def __init__(self, source: str, tokens: list[Token], places: Places) -> None:
        self.source = source
        self.tokens = tokens
        self.places = places
        self.position = 0
        self.without_in = False  # in the head of a `for`

    @property
    def now(self) -> Token:
        return self.tokens[self.position]

    def take(self) -> Token:
        """Return the next token and go on behind it. The end stays."""
        token = self.tokens[self.position]
        if token.kind is not TokenKind.END:
            self.position += 1
        return token

    def is_at(self, text: str) -> bool:
        """Tell whether a sign or a word is next."""
        token = self.tokens[self.position]
        return token.text == text and token.kind in {TokenKind.SIGN, TokenKind.NAME}

    def has(self, text: str) -> bool:
        """Take a sign or a word if it is next."""
        if self.is_at(text):
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Take a sign or a word. Raises JavaScriptError if it is not next."""
        if not self.has(text):
            self.refuse(self.now, f"; {text!r} is missing")

    def expect_end(self) -> None:
        if self.now.kind is not TokenKind.END:
            self.refuse(self.now)

    def refuse(self, token: Token, why: str = "") -> NoReturn:
        """Raise a JavaScriptError for a token that is not expected."""
        what = "the end of the file" if token.kind is TokenKind.END else repr(token.text[:30])
        raise self.places.error(f"{what} is not expected here{why}", token.start)

    def property_name(self) -> str:
        """Take a name behind a dot."""
        token = self.take()
        if token.kind is not TokenKind.NAME:
            self.refuse(token)
        return token.text

    def in_any_case(self, read: Callable[[], _T]) -> _T:
        """Read what stands in brackets: `in` is an operator there."""
        before, self.without_in = self.without_in, False
        try:
            return read()
        finally:
            self.without_in = before

    def closing(self, position: int) -> int:
        """Return where the bracket at a position is closed. The scanner has paired them."""
        depth = 0
        for at in range(position, len(self.tokens)):
            token = self.tokens[at]
            if token.kind is TokenKind.SIGN:
                depth += (token.text in _PAIRS) - (token.text in _PAIRS.values())
            if depth == 0:
                return at
        return len(self.tokens) - 2
