"""Cut JavaScript into tokens. Pure; any text gives tokens or a JavaScriptError with its place.

A template literal is one token that holds the tokens of its expressions. Comments belong to the
token that follows them.
"""

import re
from bisect import bisect_right
from enum import StrEnum

from siding.ground.namedtuples import NamedTuple
from siding.workflows.javascript.errors import JavaScriptError

_SPACE = re.compile(r"[\s\ufeff]+")
_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_NUMBER = re.compile(
    r"0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+"
    r"|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?"
)
_SIGNS = re.compile(
    r">>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?="
    r"|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?!\d)|\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|<<|>>|\*\*"
    r"|[{}()\[\];,<>+\-*/%&|^!~?:=.@#]"
)
_REGEX = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-zA-Z]*")
_STRING = re.compile(
    r"""'(?:\\(?:\r\n|[\s\S])|[^'\\\n\r])*'|"(?:\\(?:\r\n|[\s\S])|[^"\\\n\r])*\""""
)
_BEFORE_OPERAND = frozenset(
    "return typeof case in of delete void throw new else do await yield instanceof".split()
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_ESCAPE = re.compile(r"\\(u\{[\da-fA-F]{1,6}\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|\r\n|[\s\S])")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


class TokenKind(StrEnum):
    """What a token is."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    TEMPLATE = "template"
    REGEX = "regex"
    SIGN = "sign"
    END = "end"


class Comment(NamedTuple):
    """A comment without its marks; `is_trailing` if it stands behind code on the same line."""

    text: str
    is_trailing: bool


class Token(NamedTuple):
    """A token, where it stands, and the comments before it.

    `value` of a string is its text. A template has `texts`, and between them `inner` tokens.
    """

    kind: TokenKind
    text: str
    start: int
    end: int
    value: str = ""
    after_newline: bool = False
    comments: tuple[Comment, ...] = ()
    texts: tuple[str, ...] = ()
    inner: tuple[tuple["Token", ...], ...] = ()


def tokens_of(source: str) -> list[Token]:
    """Return the tokens of a source; the last one is an END. Raises JavaScriptError."""
    scanner = _Scanner(source)
    try:
        found, _end = scanner.scan(0, inside_template=False)
    except RecursionError:
        raise scanner.places.error("template literals are nested too deeply", 0) from None
    return found


class Places:
    """Lines and columns of offsets in a source."""

    def __init__(self, source: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer(r"\r\n|\n|\r", source))]

    def line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def error(self, what: str, offset: int) -> JavaScriptError:
        """Return an error that names this place."""
        line = self.line(offset)
        return JavaScriptError(what, line, offset - self._starts[line - 1] + 1)


class _Scanner:
    def __init__(self, source: str) -> None:
        self._source = source
        self.places = Places(source)

    def scan(self, at: int, *, inside_template: bool) -> tuple[list[Token], int]:
        """Return tokens up to the end, or up to the `}` that ends a template's expression."""
        found: list[Token] = []
        open_: list[tuple[str, int]] = []
        while True:
            start, newline, comments = self._skip(at)
            if start >= len(self._source):
                self._refuse_unfinished(open_, inside_template=inside_template, at=start)
                break
            token = self._token(start, found)
            at = token.end
            if token.kind is TokenKind.SIGN:
                if token.text in _PAIRS:
                    open_.append((_PAIRS[token.text], start))
                elif token.text in _PAIRS.values():
                    if not open_ and token.text == "}" and inside_template:
                        break
                    if not open_ or open_.pop()[0] != token.text:
                        raise self.places.error(f"{token.text!r} closes nothing", start)
            found.append(token._replace(after_newline=newline, comments=comments))
        end = Token(kind=TokenKind.END, text="", start=start, end=start)
        found.append(end._replace(after_newline=True, comments=comments))
        return found, start

    def _refuse_unfinished(
        self, open_: list[tuple[str, int]], *, inside_template: bool, at: int
    ) -> None:
        if open_:
            wanted, where = open_[-1]
            raise self.places.error(f"{wanted!r} is missing for this bracket", where)
        if inside_template:
            raise self.places.error("the template literal does not end", max(0, at - 1))

    def _skip(self, at: int) -> tuple[int, bool, tuple[Comment, ...]]:
        """Return where the next token is, whether a line ended before it, and the comments."""
        source, comments, newline = self._source, [], at == 0
        if at == 0 and source.startswith("#!"):
            at = self._line_end(0)
        while at < len(source):
            if space := _SPACE.match(source, at):
                newline = newline or "\n" in space[0] or "\r" in space[0]
                at = space.end()
            elif source.startswith("//", at):
                end = self._line_end(at)
                comments.append(Comment(text=source[at + 2 : end].strip(), is_trailing=not newline))
                at = end
            elif source.startswith("/*", at):
                end = source.find("*/", at + 2)
                if end < 0:
                    raise self.places.error("the comment does not end", at)
                text = source[at + 2 : end]
                comments.append(Comment(text=_block_text(text), is_trailing=not newline))
                newline = newline or "\n" in text
                at = end + 2
            else:
                break
        return at, newline, tuple(comments)

    def _line_end(self, at: int) -> int:
        found = re.compile(r"[\n\r\u2028\u2029]").search(self._source, at)
        return found.start() if found else len(self._source)

    def _token(self, at: int, before: list[Token]) -> Token:
        source = self._source
        letter = source[at]
        if name := _NAME.match(source, at):
            return _simple(TokenKind.NAME, name)
        if letter.isdigit() or (letter == "." and source[at + 1 : at + 2].isdigit()):
            if number := _NUMBER.match(source, at):
                return _simple(TokenKind.NUMBER, number)
            raise self.places.error(f"the digit {letter!r} is not expected here", at)
        if letter in "'\"":
            text = _STRING.match(source, at)
            if text is None:
                raise self.places.error("the string does not end on its line", at)
            value = unescape(text[0][1:-1])
            return _simple(TokenKind.STRING, text)._replace(value=value)
        if letter == "`":
            return self._template(at)
        if letter == "/" and _operand_may_begin(before) and (regex := _REGEX.match(source, at)):
            return _simple(TokenKind.REGEX, regex)
        if sign := _SIGNS.match(source, at):
            return _simple(TokenKind.SIGN, sign)
        raise self.places.error(f"the character {letter!r} is not expected here", at)

    def _template(self, start: int) -> Token:
        source, at = self._source, start + 1
        texts: list[str] = []
        inner: list[tuple[Token, ...]] = []
        piece = at
        while at < len(source):
            if source[at] == "\\":
                at += 2
            elif source[at] == "`":
                texts.append(_cooked(source[piece:at]))
                return Token(
                    kind=TokenKind.TEMPLATE,
                    text=source[start : at + 1],
                    start=start,
                    end=at + 1,
                    texts=tuple(texts),
                    inner=tuple(inner),
                )
            elif source.startswith("${", at):
                texts.append(_cooked(source[piece:at]))
                tokens, at = self.scan(at + 2, inside_template=True)
                inner.append(tuple(tokens))
                at = piece = at + 1
            else:
                at += 1
        raise self.places.error("the template literal does not end", start)


def _simple(kind: TokenKind, found: re.Match[str]) -> Token:
    return Token(kind=kind, text=found[0], start=found.start(), end=found.end())


def _operand_may_begin(before: list[Token]) -> bool:
    """Tell whether a slash begins a regular expression here, and does not divide."""
    if not before:
        return True
    last = before[-1]
    if last.kind is TokenKind.NAME:
        return last.text in _BEFORE_OPERAND
    return last.kind is TokenKind.SIGN and last.text not in {")", "]", "}", "++", "--"}


def _cooked(raw: str) -> str:
    return unescape(raw.replace("\r\n", "\n").replace("\r", "\n"))


def _block_text(text: str) -> str:
    lines = [re.sub(r"^\s*\*+ ?", "", line).rstrip() for line in text.splitlines()]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join([lines[0].strip(), *lines[1:]]) if lines else ""


def unescape(raw: str) -> str:
    """Return what the inside of a string literal stands for."""
    text = _ESCAPE.sub(_one, raw)
    if any("\ud800" <= letter <= "\udfff" for letter in text):  # pairs are one character in Python
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _one(found: re.Match[str]) -> str:
    said = found[1]
    if said[0] in "ux" and len(said) > 1:
        code = int(said[1:].strip("{}"), 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    if said in {"\n", "\r", "\r\n", "\u2028", "\u2029"}:
        return ""  # the literal goes on in the next line
    return _LETTERS.get(said, said)
