"""Which words of a changed line are new. Pure."""

import re
from difflib import SequenceMatcher

_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
_LEAST_ALIKE = 0.4  # two lines that share less are two lines, not one that was changed

Places = list[tuple[int, int]]


def changed_words(old: str, new: str) -> tuple[Places, Places]:
    """Return the places of the words of `old` that went, and of those of `new` that came.

    Nothing is returned for lines that have little in common.
    """
    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    blocks = matcher.get_matching_blocks()
    same = sum(len("".join(before[a : a + size]).strip()) for a, _, size in blocks)
    if same < _LEAST_ALIKE * max(len(old.strip()), len(new.strip())):
        return [], []
    return _others(before, [(a, size) for a, _, size in blocks]), _others(
        after, [(b, size) for _, b, size in blocks]
    )


def _others(words: list[str], same: list[tuple[int, int]]) -> Places:
    """Return the places of the words that are in none of the runs of equal ones."""
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    found: Places = []
    at = 0
    for first, size in same:
        if first > at:
            found.append((starts[at], starts[first]))
        at = first + size
    return found
