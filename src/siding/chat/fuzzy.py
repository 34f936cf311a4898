"""Order names by how well they fit the letters that somebody has typed."""

import re
from collections.abc import Iterable, Sequence
from heapq import nsmallest

# How it fits; less is better. What follows in a key: how far apart, how deep, how long, the name.
_SAME, _BEGINS, _PATH_BEGINS, _WORD, _IN_NAME, _IN_PATH, _SCATTERED_NAME, _SCATTERED = range(8)
_BETWEEN_WORDS = "/._- "


def fitting(names: Sequence[str], typed: str, limit: int) -> list[str]:
    """Return the names that have the typed letters in their order, best first, `limit` at most.

    Upper and lower case are the same. With nothing typed the names that are least deep come first.
    """
    if not typed:
        return nsmallest(limit, names, key=lambda name: (name.count("/"), name))
    wanted = typed.lower()
    fits = _pattern(wanted).match
    lowered: Iterable[str] = map(str.lower, names)
    found = (
        (_key(low, wanted), name) for low, name in zip(lowered, names, strict=True) if fits(low)
    )
    return [name for _key, name in nsmallest(limit, found)]


def _pattern(wanted: str) -> re.Pattern[str]:
    """Match the letters in their order, each at the first place: in time as long as the name."""
    return re.compile("".join(f"[^{re.escape(c)}]*{re.escape(c)}" for c in wanted), re.DOTALL)


def _key(low: str, wanted: str) -> tuple[int, int, int, int]:
    end = low.rstrip("/")
    name = end[end.rfind("/") + 1 :]
    rank, span = _rank(low, end, name, wanted)
    return rank, span, low.count("/"), len(low)


def _rank(low: str, end: str, name: str, wanted: str) -> tuple[int, int]:
    if wanted in (name, end, low):
        return _SAME, 0
    if name.startswith(wanted):
        return _BEGINS, 0
    if low.startswith(wanted):
        return _PATH_BEGINS, 0
    place = name.find(wanted)
    if place > 0:
        return (_WORD if name[place - 1] in _BETWEEN_WORDS else _IN_NAME), 0
    if wanted in low:
        return _IN_PATH, 0
    span = _span(name, wanted)
    return (_SCATTERED_NAME, span) if span else (_SCATTERED, _span(low, wanted))


def _span(text: str, wanted: str) -> int:
    """Return over how many characters the letters are scattered, from the back; 0 if not there."""
    place, last = len(text), -1
    for letter in reversed(wanted):
        place = text.rfind(letter, 0, place)
        if place < 0:
            return 0
        last = place if last < 0 else last
    return last - place + 1
