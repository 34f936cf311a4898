"""Find the few places where a secret could be, so that the slow rules run only there.

All bytes are searched with `bytes.translate`, `bytes.find` and a few regular expressions that begin
with a literal, which all run in C. Two translated copies make few searches do the work of many. In
one, all letters and digits are the same letter, so a long run of them is one search. In the other,
case and punctuation are levelled, and ``y`` becomes ``n``: words which announce a secret share a
part, as ``key`` and ``token`` share ``ken``.

A rule only runs where one of these triggers is found. So the text that a rule matches must contain
a trigger by itself: the outcome must not depend on where a block begins or ends.
"""

import re
from collections.abc import Iterable, Iterator

from siding.namedtuples import NamedTuple

RUN = 20  # bytes; a token without a name before it is at least this long
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-~")
_RUNS = bytes(97 if each in _LETTERS else 32 for each in range(256))
_RUN = b"a" * RUN


def _folded() -> bytes:
    table = bytearray(bytes(range(256)).lower())
    table[ord("y")] = table[ord("Y")] = ord("n")
    for code in b"=:_\"'->\\.%&":
        table[code] = ord("=")
    return bytes(table)


_FOLD = _folded()
# Parts of the words that announce a secret, with what may be behind them. All begin with a literal:
# such a search runs in C.
_KEN = re.compile(rb"ken(?![si])(?!(?<=[ ]ken)[ ][a-z0-9])(?!(?<=[ ]token)[ ][a-z0-9])")
_OTHERS = tuple(
    (literal, re.compile(literal + behind))
    for literal, behind in (
        (b"cre", rb"[td]"),
        (b"auth", rb"[= o](?!rs?[= ])"),
        (b"pass", rb"[= wp]"),
        (b"pwd", rb"[= ]"),
        (b"salt", rb"[= ]"),
    )
)
_LISTS = tuple((each, re.compile(each)) for each in (b"mnem", b"phras", b"codes"))
_OPTION = re.compile(rb" -(?:[pPauwUkAX][^-]|-(?:user|proxy-user|auth|pass)[ =]|[nc]?b[ ncBm])")
_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_PUNCTUATION = tuple(bytes([each]) for each in b"=:>\"'_-")


class Triggers(NamedTuple):
    """The offsets of words that may announce a secret, by what they may announce."""

    names: list[int]  # of a value
    lists: list[int]  # of words or codes


def runs(data: bytes) -> list[tuple[int, int]]:
    """Return start and end of each run of at least `RUN` letters, digits, ``_``, ``-``, ``~``."""
    same = data.translate(_RUNS)
    found = []
    at = same.find(_RUN)
    while at >= 0:
        end = same.find(b" ", at + RUN)
        end = len(data) if end < 0 else end
        found.append((at, end))
        at = same.find(_RUN, end)
    return found


def triggers(data: bytes) -> Triggers:
    """Return where words are that may announce a secret, in order."""
    folded = data.translate(_FOLD)
    lists = _all(_LISTS, folded)
    if not any(each in data for each in _PUNCTUATION):
        # A netrc file has a dot in its host.
        return Triggers(list(positions(data, b"password ")) if b"." in data else [], lists)
    names = [at for at in (found.start() for found in _KEN.finditer(folded)) if _may(data, at)]
    return Triggers(sorted(names + _all(_OTHERS, folded)), lists)


def _all(patterns: Iterable[tuple[bytes, re.Pattern[bytes]]], folded: bytes) -> list[int]:
    """Return the offsets of all patterns, each with the literal it begins with, in order."""
    found = [
        match.start()
        for literal, pattern in patterns
        if literal in folded
        for match in pattern.finditer(folded)
    ]
    found.sort()
    return found


def _may(data: bytes, at: int) -> bool:
    """Return whether the ``key`` or ``token`` at `at` may announce a secret.

    ``key:`` alone does not, nor do ``keyboard`` or the plain words in a sentence, which are in
    every second line of some output.
    """
    behind = data[at + 3 : at + 4]
    if behind.islower() or data[at - 1] not in _NAME:
        return False
    return not (behind == b" " and data[at - 3] == 0x20 and data[at + 4 : at + 5].isalnum())


def options(data: bytes) -> list[int]:
    """Return the offset of each short option that may have a password behind it."""
    return [found.start() + 1 for found in _OPTION.finditer(data)]


def positions(data: bytes, wanted: bytes) -> Iterator[int]:
    """Yield the offset of each occurrence of `wanted` in `data`."""
    at = data.find(wanted)
    while at >= 0:
        yield at
        at = data.find(wanted, at + len(wanted))
