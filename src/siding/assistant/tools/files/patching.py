"""What an edit changed, as Claude Code's transcripts have it (`structuredPatch`)."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

_CONTEXT = 3  # lines
_MOST_COMPARED = 4000  # lines on one side; more are one change as a whole


def patch(before: str, after: str) -> list[dict[str, Any]]:
    """Return the hunks between two texts."""
    old, new = before.splitlines(), after.splitlines()
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    groups = _groups(old[head : len(old) - tail], new[head : len(new) - tail])
    return [
        _hunk(old, new, [(a + head, b + head, c + head, d + head) for a, b, c, d in group])
        for group in groups
    ]


def _same(old: Sequence[str], new: Sequence[str]) -> int:
    count = 0
    for mine, its in zip(old, new, strict=False):
        if mine != its:
            break
        count += 1
    return count


_Change = tuple[int, int, int, int]  # lines from and to, before and after


def _groups(old: list[str], new: list[str]) -> list[list[_Change]]:
    """Return the changes, those together whose context would meet."""
    if not old and not new:
        return []
    if max(len(old), len(new)) > _MOST_COMPARED:
        return [[(0, len(old), 0, len(new))]]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    groups: list[list[_Change]] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        if groups and a - groups[-1][-1][1] <= 2 * _CONTEXT:
            groups[-1].append((a, b, c, d))
        else:
            groups.append([(a, b, c, d)])
    return groups


def _hunk(old: list[str], new: list[str], changes: list[_Change]) -> dict[str, Any]:
    first, last = changes[0], changes[-1]
    lead = min(_CONTEXT, first[0])
    trail = min(_CONTEXT, len(old) - last[1])
    lines = [f" {line}" for line in old[first[0] - lead : first[0]]]
    at = first[0]
    for a, b, c, d in changes:
        lines += [f" {line}" for line in old[at:a]]
        lines += [f"-{line}" for line in old[a:b]] + [f"+{line}" for line in new[c:d]]
        at = b
    lines += [f" {line}" for line in old[at : at + trail]]
    return {
        "oldStart": first[0] - lead + 1,
        "oldLines": last[1] + trail - (first[0] - lead),
        "newStart": first[2] - lead + 1,
        "newLines": last[3] + trail - (first[2] - lead),
        "lines": lines,
    }
