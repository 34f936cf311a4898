"""Do the searches of `prefilter` in one pass, with the library Hyperscan where it is installed.

It names candidates only: each is matched again by the expression of `prefilter` that would have
found it. So it may name too many, never too few, and the outcome is the same with and without it.
Loading the library and compiling takes as long as it saves in several megabytes, so a stream asks
for it only when it has come that far.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.secretmask import prefilter
from siding.secretmask.credit import Meter
from siding.secretmask.prefilter import (
    COMMENT,
    FOLD,
    IDENTIFIED,
    OPTION,
    PARTS,
    PHRASES,
    PORT,
    RUN,
    Found,
)

_SHARE = 9  # more than one candidate in 512 bytes: the searches of `prefilter` are as fast
_REST = 15  # pieces that are searched without it when there were too many
_BEFORE, _BEHIND = 8, 16  # bytes around the beginning of a part of a word that decide
_OPTION, _RUN, _ARMOUR, _COMMENT, _PHRASE = range(len(PARTS), len(PARTS) + 5)


class _Search(NamedTuple):
    """What the library looks for; `back`: how far before its end the candidate is."""

    group: int
    expression: bytes
    back: int
    once: bool = False


class Sieve:
    """What one stream asks; it has working memory of its own, so each stream needs one."""

    def __init__(self, database: Any, failure: type[Exception], backs: tuple[int, ...]) -> None:
        self._database = database
        self._failure = failure
        self._backs = backs
        self._scratch = database.scratch.clone()
        self._rest = 0

    def found(self, data: bytes, meter: Meter | None = None) -> Found | None:
        """Return what `prefilter.found` returns, or None where that is as fast."""
        if self._rest:
            self._rest -= 1
            return None
        most = 8 + (len(data) >> _SHARE)
        backs = self._backs
        ends: list[tuple[int, int]] = []

        def on_match(search: int, _from: int, to: int, _flags: int, _context: object) -> bool:
            ends.append((to - backs[search], search))
            return len(ends) > most

        try:
            self._database.scan(data, on_match, scratch=self._scratch)
        except self._failure:  # that too many stopped it, and whatever else may fail
            self._rest = _REST
            return None
        # Not left to the library to say: after a search that stopped nothing may be missed.
        return None if len(ends) > most else _judged(data, ends, meter)


@cache
def _library() -> tuple[Any, Any] | None:
    """Return the library and the compiled expressions, None where it is not or cannot run."""
    # Without the lock of Python, its own waits for a callback that cannot come.
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    try:
        library = import_module("hyperscan")
    except ImportError:
        return None
    database = library.Database(mode=library.HS_MODE_BLOCK)
    single = library.HS_FLAG_SINGLEMATCH
    try:
        database.compile(
            expressions=[each.expression for each in _SEARCHES],
            ids=list(range(len(_SEARCHES))),
            flags=[library.HS_FLAG_DOTALL | (single if each.once else 0) for each in _SEARCHES],
        )
    except library.error:  # a processor that it does not know
        return None
    return library, database


def new_sieve() -> Sieve | None:
    """Return a sieve for one stream; None where the library is missing (the extra ``fast``)."""
    loaded = _library()
    if loaded is None:
        return None
    library, database = loaded
    return Sieve(database, library.error, tuple(each.back for each in _SEARCHES))


def _judged(data: bytes, ends: list[tuple[int, int]], meter: Meter | None) -> Found:
    if not ends:
        return prefilter.NOTHING
    by_group: list[set[int]] = [set() for _ in range(_PHRASE + 1)]
    for at, search in ends:
        by_group[_SEARCHES[search].group].add(at)
    places = [sorted(each) for each in by_group]
    words = [at for part in range(len(PARTS)) for at, _ in _apart(_parts(data, part, places[part]))]
    announcing = prefilter.triggers_at(data, words, meter)
    return Found(
        runs=_runs(data, *places[_RUN]),
        triggers=announcing,
        options=[at + 1 for at, _ in _apart(_matches(OPTION, data, places[_OPTION]))],
        armour=bool(places[_ARMOUR]),
        comment=bool(announcing.names and places[_COMMENT]),
        phrase=bool(places[_PHRASE]),
    )


def _runs(data: bytes, first: int | None = None) -> list[tuple[int, int]]:
    """Return the runs from the first on; that of all would be one call for each byte of a run."""
    if first is None:
        return []
    return [(first + start, first + end) for start, end in prefilter.runs(data[first:])]


def _parts(data: bytes, part: int, places: list[int]) -> Iterator[tuple[int, int]]:
    for at in places:
        begin = max(0, at - _BEFORE)
        match = PARTS[part].match(data[begin : at + _BEHIND].translate(FOLD), at - begin)
        if match is not None:
            yield at, begin + match.end()


def _matches(regex: re.Pattern[bytes], data: bytes, places: list[int]) -> Iterator[tuple[int, int]]:
    return (match.span() for at in places if (match := regex.match(data, at)) is not None)


def _apart(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield those that do not begin within the one before: a search goes on behind a match."""
    done = 0
    for start, end in spans:
        if start >= done:
            done = end
            yield start, end


def _spelling(folded: int) -> list[int]:
    """Return the bytes that `prefilter` levels to this one."""
    return [each for each in range(256) if FOLD[each] == folded]


def _any(folded: bytes, *, but: bool = False) -> bytes:
    """Return an expression for the bytes that are levelled to one of these; `but`: to none."""
    codes = b"".join(rb"\x%02x" % each for letter in folded for each in _spelling(letter))
    return b"[%b%b]" % (b"^" if but else b"", codes)


def _level(word: bytes) -> bytes:
    """Return an expression for what is levelled to this word."""
    return b"".join(_any(bytes([each])) for each in word)


def _word(part: int, word: bytes, last: bytes, before: int = 0) -> _Search:
    """Return the search for a levelled word with one of the bytes `last` behind it.

    The candidate is `before` bytes behind its beginning.
    """
    return _Search(part, _level(word) + _any(last), len(word) + 1 - before)


def _searches() -> tuple[_Search, ...]:
    key = _level(b"kee")
    return (
        _Search(0, key + _any(b"sit", but=True), 4),
        _Search(0, key + rb"\z", 3),
        _word(1, b"cse", b"td"),
        _word(2, b"alta", b"= o\n<"),
        _word(2, b"salt", b"= ", before=1),
        _word(3, b"pass", b"= ap\t\n<"),
        _Search(3, _any(b"=\n ") + _level(b"pa") + _any(b"=| \t\n<"), 3),
        _word(3, b"pad", b"= \n<"),
        _word(3, b"pasas", b"e"),
        _word(4, b"code", b"s"),
        _Search(_OPTION, rb" -(?:[pPauwUkAX][^-]|-[upa]|b[ ncBm]|[nc]b)", 4),
        _Search(_RUN, rb"[A-Za-z0-9_~-]{%d}" % RUN, RUN, once=True),
        _Search(_ARMOUR, rb"-----BEGIN ", 0, once=True),
        _Search(_COMMENT, COMMENT, 0, once=True),
        _Search(_PHRASE, _level(IDENTIFIED), 0, once=True),
        *(_Search(_PHRASE, re.escape(each), 0, once=True) for each in (*PHRASES, PORT)),
    )


_SEARCHES = _searches()
