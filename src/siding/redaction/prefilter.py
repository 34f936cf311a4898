"""Find the few places where a secret could be, so that the slow rules run only there.

All bytes are searched with `bytes.translate` and `bytes.find`, which run in C. Two translated
copies make few searches do the work of many. In one, all letters and digits are the same letter, so
a long run of them is one search. In the other, several letters become one, so that words which
announce a secret share a part: ``key`` and ``token`` both contain ``ken``, ``secret`` and
``credential`` both ``cred``, ``password``, ``passphrase`` and ``pass=`` all ``=ass=``.

A rule only runs where one of these triggers is found. So the text that a rule matches must contain
a trigger by itself: the outcome must not depend on where a block begins or ends.
"""

from collections.abc import Iterator

RUN = 20  # bytes; a token without a name before it is at least this long
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-~")
_RUNS = bytes(97 if each in _LETTERS else 32 for each in range(256))
_RUN = b"a" * RUN


def _folded() -> bytes:
    table = bytearray(bytes(range(256)).lower())
    for each, becomes in ((b"yY", b"n"), (b"tT", b"d"), (b"oOpPwW=:_\"'->\\.%&", b"=")):
        for code in each:
            table[code] = becomes[0]
    return bytes(table)


_FOLD = _folded()
_WORDS = (b"cred", b"audh=", b"audh ", b"=ass=", b"=ass ", b"==d=", b"==d ")
_NOTHING = (b"s", b"i")
_PUNCTUATION = tuple(bytes([each]) for each in b"=:>\"'_-")


def runs(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of at least `RUN` letters, digits, ``_``, ``-`` and ``~``."""
    same = data.translate(_RUNS)
    at = same.find(_RUN)
    while at >= 0:
        end = same.find(b" ", at + RUN)
        end = len(data) if end < 0 else end
        yield at, end
        at = same.find(_RUN, end)


def words(data: bytes) -> Iterator[int]:
    """Yield the offset of each word that may be part of a name with a secret value."""
    if not any(each in data for each in _PUNCTUATION):
        if b"." in data:
            yield from positions(data, b"password ")  # a netrc file; the dot is in its host
        return
    folded = data.translate(_FOLD)
    yield from _keys(data, folded)
    for word in _WORDS:
        yield from positions(folded, word)


def _keys(data: bytes, folded: bytes) -> Iterator[int]:
    """Yield the offset of each ``key`` or ``token``, except in words that announce no secret.

    ``tokens``, ``keyId`` and the plain words in a sentence are in every second line of some output,
    and running the rules there would be slow.
    """
    at = folded.find(b"ken")
    while at >= 0:
        behind = folded[at + 3 : at + 4]
        bare = behind == b" " and b" " in (folded[at - 1 : at], folded[at - 3 : at - 2])
        if behind not in _NOTHING and not (bare and data[at + 4 : at + 5].isalnum()):
            yield at
        at = folded.find(b"ken", at + 3)


def positions(data: bytes, wanted: bytes) -> Iterator[int]:
    """Yield the offset of each occurrence of `wanted` in `data`."""
    at = data.find(wanted)
    while at >= 0:
        yield at
        at = data.find(wanted, at + len(wanted))
