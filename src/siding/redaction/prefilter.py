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
from collections.abc import Iterator

from siding.namedtuples import NamedTuple

RUN = 20  # bytes; a token without a name before it is at least this long
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-~")
_RUNS = bytes(97 if each in _LETTERS else 32 for each in range(256))
_RUN = re.compile(b"a" * RUN + b"a*+")


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
    re.compile(each)
    for each in (rb"cre[td]", rb"auth[= o](?!rs?[= ])", rb"pass[= wp]", rb"pwd[= ]", rb"salt[= ]")
)
_LISTS = tuple(re.compile(each) for each in (rb"mnem", rb"phras", rb"codes"))
_OPTION = re.compile(rb" -(?:[pPauwUkAX][^-]|-(?:user|proxy-user|auth|pass)[ =]|[nc]?b[ ncBm])")
_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_PUNCTUATION = tuple(bytes([each]) for each in b"=:>\"'_-")


class Triggers(NamedTuple):
    """The offsets of words that may announce a secret, by what they may announce."""

    names: list[int]  # of a value
    lists: list[int]  # of words or codes


def runs(data: bytes) -> list[tuple[int, int]]:
    """Return start and end of each run of at least `RUN` letters, digits, ``_``, ``-``, ``~``."""
    return [found.span() for found in _RUN.finditer(data.translate(_RUNS))]


def triggers(data: bytes) -> Triggers:
    """Return where words are that may announce a secret, in order."""
    folded = data.translate(_FOLD)
    lists = [found.start() for pattern in _LISTS for found in pattern.finditer(folded)]
    lists.sort()
    if not any(each in data for each in _PUNCTUATION):
        # A netrc file has a dot in its host.
        return Triggers(list(positions(data, b"password ")) if b"." in data else [], lists)
    names = [at for at in (found.start() for found in _KEN.finditer(folded)) if _may(data, at)]
    for pattern in _OTHERS:
        names += [found.start() for found in pattern.finditer(folded)]
    names.sort()
    return Triggers(names, lists)


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
