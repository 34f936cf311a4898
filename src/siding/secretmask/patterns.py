"""A project's own rules: regular expressions, limited so that redaction stays fast and certain.

They may not match white space: otherwise a stream would have to wait for the next line. They may
not look around themselves, and may not repeat something that repeats: otherwise some inputs would
take more than linear time.
"""

import re

# A private module (CPython has it since 3.11): the standard library has no public way to see the
# parts of a regular expression.
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from siding.secretmask.lazily import lazily
from siding.secretmask.rules import Pattern

MOST = 256  # characters in a pattern
_KIND = lazily(r"[a-z][a-z0-9-]{0,39}")
_BLANKS = b" \t\n\r\v\f"


def pattern(kind: str, text: str) -> Pattern:
    """Return the rule for the regular expression `text`; `kind` is the word in the mark.

    Raises ValueError with a sentence that says what is wrong.
    """
    if not _KIND.fullmatch(kind):
        raise ValueError("the kind should be lower-case letters, digits and '-'")
    if len(text) > MOST:
        raise ValueError(f"the pattern has more than {MOST} characters")
    try:
        regex = re.compile(text.encode())
    except re.error as error:
        raise ValueError(f"the pattern is not a regular expression: {error}") from None
    _check(text.encode())
    if regex.search(b"") is not None:
        raise ValueError("the pattern matches the empty text")
    return Pattern(kind=kind.encode(), regex=regex)


def _check(text: bytes) -> None:
    parsed = _parser.parse(text)
    if parsed.state.flags & (re.VERBOSE | re.LOCALE):
        raise ValueError("the pattern may not use the flags x and L")
    _walk(parsed, repeated=False)


def _walk(parsed: Any, *, repeated: bool) -> None:
    for operation, argument in parsed:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            _, most, inner = argument
            many = most > 1
            if many and repeated:
                raise ValueError("the pattern repeats something that repeats already")
            _walk(inner, repeated=repeated or many)
        elif name == "SUBPATTERN":
            _walk(argument[-1], repeated=repeated)
        elif name == "ATOMIC_GROUP":
            _walk(argument, repeated=repeated)
        elif name == "BRANCH":
            for branch in argument[1]:
                _walk(branch, repeated=repeated)
        elif name == "AT":
            if str(argument) != "AT_BOUNDARY":
                raise ValueError("the pattern may not say where in a line it begins or ends")
        elif name not in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            raise ValueError("the pattern may not look around itself or back at its groups")
        elif _matches_blank(operation, argument):
            raise ValueError(
                r"the pattern may not match white space: write [^\s] for any character"
            )


def _matches_blank(operation: Any, argument: Any) -> bool:
    name = str(operation)
    if name == "ANY":
        return True
    if name == "LITERAL":
        return argument in _BLANKS
    if name == "NOT_LITERAL":
        return True
    negated = bool(argument) and str(argument[0][0]) == "NEGATE"
    members = argument[1:] if negated else argument
    return any(any(_has(member, blank) for member in members) != negated for blank in _BLANKS)


def _has(member: Any, code: int) -> bool:
    operation, argument = member
    name = str(operation)
    if name == "LITERAL":
        return bool(argument == code)
    if name == "RANGE":
        return bool(argument[0] <= code <= argument[1])
    return str(argument) in ("CATEGORY_SPACE", "CATEGORY_NOT_DIGIT", "CATEGORY_NOT_WORD")
