"""Finding what a model meant by a text that is not in the file."""

import re
from difflib import SequenceMatcher

_MOST_LINES = 20_000  # of a file that is searched
_MOST_WORK = 2_000_000  # comparisons of lines
_MOST_SHOWN = 12  # lines
_ALIKE = 0.6
_NUMBERED = re.compile(r"^\s*\d+[\t→]")


def hint(seen: str, wanted: str) -> str:
    """Return what the file has that is most like the text; "" if nothing is."""
    if _NUMBERED.match(wanted) and all(map(_NUMBERED.match, wanted.split("\n"))):
        return " It begins with line numbers: those are only in what Read shows, leave them out."
    lines, looked = seen.split("\n"), wanted.strip("\n").split("\n")
    if len(lines) > _MOST_LINES or len(lines) * len(looked) > _MOST_WORK:
        return ""
    at = _by_equal_lines(lines, looked)
    if at is None:
        at = _by_similar_line(lines, looked)
    return "" if at is None else _shown(lines, looked, at)


def _by_equal_lines(lines: list[str], looked: list[str]) -> int | None:
    """Return where most lines are equal but for blanks, if half of them are."""
    mine = ["".join(line.split()) for line in lines]
    its = ["".join(line.split()) for line in looked]
    wanted = sum(1 for line in its if line)
    best, where = 0, None
    for at in range(len(mine)):
        equal = sum(1 for a, b in zip(mine[at : at + len(its)], its, strict=False) if a and a == b)
        if equal > best:
            best, where = equal, at
    return where if wanted and best * 2 >= wanted else None


def _by_similar_line(lines: list[str], looked: list[str]) -> int | None:
    longest = max(looked, key=lambda line: len(line.strip()))
    if not longest.strip() or len(longest) > 1000 or len(lines) > _MOST_LINES // 4:
        return None
    matcher = SequenceMatcher(None, "", longest.strip())
    best, where = _ALIKE, None
    for at, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:1000])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, where = ratio, at
    return None if where is None else max(0, where - looked.index(longest))


def _shown(lines: list[str], looked: list[str], at: int) -> str:
    found = lines[at : at + len(looked)]
    why = ""
    if [line.strip() for line in found] == [line.strip() for line in looked]:
        why = " (it differs in blanks or tabs only)"
    more = len(found) - _MOST_SHOWN
    text = "\n".join(line[:500] for line in found[:_MOST_SHOWN]) + (
        f"\n… {more} more" if more > 0 else ""
    )
    first = at + 1
    lines_text = f"line {first}" if len(found) == 1 else f"lines {first} to {at + len(found)}"
    return f" Most like it is {lines_text}{why}:\n{text}"
