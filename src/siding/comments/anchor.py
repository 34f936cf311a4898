"""Find lines again in a text that was changed: at the right place, or not at all. Pure.

A comment that is shown at a wrong line is worse than one that is called stale. So two witnesses
have to agree. One is a comparison of the old text with the new one, which says where each line went
(patience diff: lines that both texts have exactly once, in the longest order that they share, and
what is the same around them; Bram Cohen, bramcohen.livejournal.com/73318.html). The other is what
stands around the lines: with enough of it on one side they were in the old text once, and are in
the new one once. Lines that were moved, or copied, are found by neither or by one.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

AROUND = 3  # lines on a side that have to be the same at least, up to an end of the text
_FARTHEST = 12  # lines on a side that are taken at most to make the place the only one

Lines = Sequence[str]


def found_again(old: Lines, new: Lines, first: int, count: int) -> int | None:
    """Return where the lines `old[first:first + count]` are in `new`; None if that is not certain.

    Places count from 0. `count` is at least 1.
    """
    if old == new:
        return first
    place = _by_comparison(old, new, first, count)
    if place is None or place != _by_surroundings(old, new, first, count):
        return None
    return place


def _by_comparison(old: Lines, new: Lines, first: int, count: int) -> int | None:
    went = went_to(old, new)
    places = [went.get(at) for at in range(first, first + count)]
    start = places[0]
    if start is None or places != [*range(start, start + count)]:
        return None
    return start


def _by_surroundings(old: Lines, new: Lines, first: int, count: int) -> int | None:
    """Return the one place at which the lines stand with what was before, or after them."""
    last = first + count
    found: set[int] = set()
    for is_before in (True, False):
        for size in range(AROUND, _FARTHEST + 1):
            start, end = (first - size, last) if is_before else (first, last + size)
            window = _window(old, start, end)
            if len(_places(old, window)) == 1:
                places = _places(new, window)
                if len(places) > 1:
                    return None
                found |= {place + first - start for place in places}
                break
    return found.pop() if len(found) == 1 else None


_Window = tuple[str | None, ...]


def _window(lines: Lines, start: int, end: int) -> _Window:
    """Return these lines; None stands for what is before the first one, or after the last."""
    inside = [None if not 0 <= at < len(lines) else lines[at] for at in range(start, end)]
    return tuple(inside)


def _places(lines: Lines, window: _Window) -> list[int]:
    """Return where a window is, which may begin before the text and end after it."""
    key = next(at for at, line in enumerate(window) if line is not None)
    wanted = window[key]
    starts = [at - key for at, line in enumerate(lines) if line == wanted]
    return [s for s in starts if _window(lines, s, s + len(window)) == window]


def went_to(old: Lines, new: Lines) -> dict[int, int]:
    """Return to which line of `new` each line of `old` went that was not changed."""
    went: dict[int, int] = {}
    left = [(0, len(old), 0, len(new))]
    while left:
        start, end, new_start, new_end = left.pop()
        while start < end and new_start < new_end and old[start] == new[new_start]:
            went[start] = new_start
            start, new_start = start + 1, new_start + 1
        while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
            end, new_end = end - 1, new_end - 1
            went[end] = new_end
        pairs = _in_order(_only_ones(old, new, start, end, new_start, new_end))
        for at, there in pairs:
            left.append((start, at, new_start, there))
            went[at] = there
            start, new_start = at + 1, there + 1
        if pairs:
            left.append((start, end, new_start, new_end))
    return went


def _only_ones(
    old: Lines, new: Lines, start: int, end: int, new_start: int, new_end: int
) -> list[tuple[int, int]]:
    """Return the lines that both parts have exactly once, by their place in the old one."""
    mine, theirs = Counter(old[start:end]), Counter(new[new_start:new_end])
    where = {new[at]: at for at in range(new_start, new_end) if theirs[new[at]] == 1}
    return [
        (at, where[old[at]]) for at in range(start, end) if mine[old[at]] == 1 and old[at] in where
    ]


def _in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of the pairs in which both places grow (patience sorting)."""
    tops: list[int] = []  # of each pile, the smallest place in the new text
    piles: list[int] = []  # of each pile, the pair on its top
    before: list[int] = []  # of each pair, the pair below it in the pile to the left
    for number, (_at, there) in enumerate(pairs):
        pile = bisect_left(tops, there)
        before.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(there)
            piles.append(number)
        else:
            tops[pile], piles[pile] = there, number
    chain = []
    number = piles[-1] if piles else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]
