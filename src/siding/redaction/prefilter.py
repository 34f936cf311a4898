"""Where to look: a few passes in C over everything, so that the rules run almost nowhere.

Two translated copies make few searches do the work of many. In one, all letters and digits are the
same, so a long run of them is a search for one word. In the other, letters fall together so that
words that announce a secret do: ``key`` and ``token`` have ``ken`` in common, ``secret`` and
``credential`` have ``cred``; ``password``, ``passphrase`` and ``pass=`` have ``=ass=``.

What is not found here is not looked at, so every rule must contain one of these triggers itself,
whatever surrounds it: the outcome may not depend on where a block begins or ends.
"""

from collections.abc import Iterator

RUN = 20  # a token without a telling name is at least this long
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
    """Yield start and end of each run of letters, digits, ``_``, ``-`` that is long enough."""
    same = data.translate(_RUNS)
    at = same.find(_RUN)
    while at >= 0:
        end = same.find(b" ", at + RUN)
        end = len(data) if end < 0 else end
        yield at, end
        at = same.find(_RUN, end)


def words(data: bytes) -> Iterator[int]:
    """Yield where a word is that may be (a part of) a telling name."""
    if not any(each in data for each in _PUNCTUATION):
        if b"." in data:
            yield from positions(data, b"password ")  # a netrc file: it names a host
        return
    folded = data.translate(_FOLD)
    yield from _keys(data, folded)
    for word in _WORDS:
        yield from positions(folded, word)


def _keys(data: bytes, folded: bytes) -> Iterator[int]:
    """Yield where ``key`` or ``token`` is, unless what is beside it shows that it tells nothing.

    ``tokens``, ``keyId`` and the bare words in a sentence are in every second line of some output.
    """
    at = folded.find(b"ken")
    while at >= 0:
        behind = folded[at + 3 : at + 4]
        bare = behind == b" " and b" " in (folded[at - 1 : at], folded[at - 3 : at - 2])
        if behind not in _NOTHING and not (bare and data[at + 4 : at + 5].isalnum()):
            yield at
        at = folded.find(b"ken", at + 3)


def positions(data: bytes, wanted: bytes) -> Iterator[int]:
    """Yield where `wanted` is in `data`."""
    at = data.find(wanted)
    while at >= 0:
        yield at
        at = data.find(wanted, at + len(wanted))
