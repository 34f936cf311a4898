"""Find the few places where a secret could be, so that the slow rules run only there.

All bytes are searched with `bytes.translate`, `bytes.find` and a few regular expressions that begin
with a literal, which all run in C. Two translated copies make few searches do the work of many. In
one, all letters and digits are the same letter, so a long run of them is one search. In the other,
case and punctuation are levelled and several letters become one, so that words which announce a
secret share a part: ``key``, ``token`` and ``mnemonic`` share ``kee``.

A rule only runs where one of these triggers is found. So the text that a rule matches must contain
a trigger by itself: the outcome must not depend on where a block begins or ends.
"""

import re
from collections.abc import Iterator

from siding.ground.namedtuples import NamedTuple
from siding.secretmask.credit import Meter
from siding.secretmask.lazily import lazily

RUN = 20  # bytes; a token without a name before it is at least this long
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-~")
_RUNS = bytes(97 if each in _LETTERS else 32 for each in range(256))
_RUN = b"a" * RUN


def _folded() -> bytes:
    table = bytearray(bytes(range(256)).lower())
    for some, one in ((b"ny", b"e"), (b"m", b"k"), (b"u", b"l"), (b"hw", b"a"), (b"r", b"s")):
        for code in some + some.upper():
            table[code] = one[0]
    for code in b"=:_\"'->\\.%&":
        table[code] = ord("=")
    return bytes(table)


FOLD = _folded()
# Parts of the words that announce a secret. Each begins with a literal: such a search runs in C.
PARTS = tuple(
    map(
        re.compile,
        (
            # key, token, mnemonic; no cache_key, token_count, _type, -limit, -usage, -id, -name
            # the last word decides, and one that announces something is found by itself
            rb"kee(?![sit])(?!(?<=[ ]kee)[ ][a-z])(?!(?<=[ ]tokee)[ ](?!is[ =])[a-z0-9])"
            rb"(?<!cacae=kee)(?!=(?:colet|tepe|likit|lsage|id=|eake))",
            rb"cse[td]",  # secret, credential
            rb"alt(?:a[= o\n<](?!ss?[= ])|[= ](?<=salt.))",  # auth but not author; salt
            # pass, password, passphrase; pwd; phrase; pw as the last word of a name
            rb"pa(?:ss[= ap\t\n<]|d[= \n<]|sase|[=| \t\n<](?<=[=\n]pa[=| \t\n<])|=(?<= pa=))",
            rb"codes",
        ),
    )
)
OPTION = lazily(rb" -(?:[pPauwUkAX][^-]|-(?:user|proxy-user|auth|pass)[ =]|[nc]?b[ ncBm])")
# What is in each phrase that `phrases` looks for and in which there is no sign that is rarer.
IDENTIFIED = b"ideetified"  # levelled
PHRASES = (b"sonar.login", b"snyk config set ")
PORT = b":5432:"
_MUCH = 4096  # bytes in which a word of a few letters is searched faster by an expression
COMMENT = b"untrusted comment:"
_LIST = lazily(rb"(?i)mnemon|phrase|codes")
_OF_LISTS = frozenset(b"mMpPcC")  # what these begin with
_OF_LISTS_NEXT = frozenset(b"nNhHoO")  # and their second letters
_K = frozenset(b"kK")
# "API key:" and others of two words, and "Unseal Key 1:".
_TWO_WORDS = rb"(?is)(?:.api|cret|cess|seal|very|tion|ning|vate|ster) key(?: [0-9])?[:=\"']"
SAYS = frozenset((b" is ", b" is:"))  # as in "the password is"
_LOWER = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_INTERRUPTING = (b"\x1b", b"%", b"\\", b"\x00", b"\xe2", b"\xc2", b"\xef")
_SERVERS = (b"requirepass ", b"masterauth ")  # settings of Redis, without any punctuation
# Bytes before a word and from it on in which is what comes between the cells of a table, a tab, or
# what says the value.
_LEFT, _RIGHT = 64, 24
_BETWEEN = (b"\t", b",", b";", b"  ", b" is")
_PUNCTUATION = tuple(bytes([each]) for each in b"=:>\"'_-|")


class Triggers(NamedTuple):
    """The offsets of words that may announce a secret, by what they may announce."""

    names: list[int]  # of a value
    lists: list[int]  # of words or codes


class Found(NamedTuple):
    """What all searches found in a block."""

    runs: list[tuple[int, int]]
    triggers: Triggers
    options: list[int]
    armour: bool  # the beginning of an armoured block
    comment: bool  # the comment before a signing key, which has ``secret`` in it
    phrase: bool  # a word that announces something and is no name


NOTHING = Found([], Triggers([], []), [], False, False, False)


def found(data: bytes, meter: Meter | None = None) -> Found:
    """Return what all searches find in the data; `meter` counts what is found."""
    folded = data.translate(FOLD)
    places = [match.start() for part in PARTS for match in part.finditer(folded)]
    announcing = triggers_at(data, places, meter)
    return Found(
        runs=runs(data),
        triggers=announcing,
        options=options(data),
        armour=b"-----BEGIN " in data,
        comment=bool(announcing.names) and COMMENT in data,
        phrase=IDENTIFIED in folded
        or contains(data, PORT)
        or any(each in data for each in PHRASES),
    )


def contains(data: bytes, word: bytes) -> bool:
    """Return whether a short word, of letters, digits and colons, is in the data.

    Compiled when it is first needed, so that a program that starts does not pay for it.
    """
    return word in data if len(data) < _MUCH else re.search(word, data) is not None


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


def triggers_at(data: bytes, places: list[int], meter: Meter | None = None) -> Triggers:
    """Return which of the parts of words that `PARTS` match at these places announce something."""
    if not places:
        return Triggers([], [])
    if meter is not None:
        meter.spend(len(places))
    places.sort()
    lists = [
        at
        for at in places
        if data[at] in _OF_LISTS and data[at + 1] in _OF_LISTS_NEXT and _LIST.match(data, at)
    ]
    if any(each in data for each in _PUNCTUATION):
        return Triggers(_announcing(data, places), lists)
    if any(each in data for each in _SERVERS):
        return Triggers(places, lists)
    near = {at for at in places if _has_between(data[max(0, at - _LEFT) : at + _RIGHT])}
    # A netrc file has a dot in its host.
    netrc = positions(data, b"password ") if b"." in data else ()
    return Triggers(sorted(near.union(netrc)), lists)


def _has_between(around: bytes) -> bool:
    return any(each in around for each in _BETWEEN)


def _announcing(data: bytes, places: list[int]) -> list[int]:
    """Return those of the places that may announce a value.

    ``key:`` alone does not, nor do ``keyboard`` or the plain words in a sentence, which are in
    every second line of some output.
    """
    found = []
    last = len(data) - 4
    for at in places:
        if data[at] in _K:
            if data[at - 1] not in _NAME:
                if data[at - 1] == 0x20 and re.match(_TWO_WORDS, data[at - 5 : at + 6]):
                    found.append(at)
                continue
            behind = data[at + 3] if at <= last else 0
            if behind in _LOWER or (
                behind == 0x20
                and data[at - 3] == 0x20
                and data[at + 4 : at + 5].isalnum()
                and data[at + 3 : at + 7] not in SAYS
            ):
                continue
        found.append(at)
    return found


def options(data: bytes) -> list[int]:
    """Return the offset of each short option that may have a password behind it."""
    return [match.start() + 1 for match in OPTION.finditer(data)]


def may_be_interrupted(data: bytes) -> bool:
    """Return whether a byte in the data may interrupt a secret, or spell it differently."""
    return any(each in data for each in _INTERRUPTING)


def positions(data: bytes, wanted: bytes) -> Iterator[int]:
    """Yield the offset of each occurrence of `wanted` in `data`."""
    at = data.find(wanted)
    while at >= 0:
        yield at
        at = data.find(wanted, at + len(wanted))
