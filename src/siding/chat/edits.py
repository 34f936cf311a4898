"""What a tool changes in files, as lines of a patch."""

from collections.abc import Mapping
from difflib import unified_diff
from itertools import dropwhile
from typing import Any

from siding.ground.storage.fields import text

_HEADS = ("---", "+++", "diff ", "index ")


def patch_lines(edit: Mapping[str, Any]) -> list[str]:
    """Return the hunks of one edit of an event, without the lines that name the file."""
    if text(edit.get("patch")):
        lines = text(edit.get("patch")).rstrip("\n").split("\n")
        return list(dropwhile(lambda each: each.startswith(_HEADS), lines))
    before, after = text(edit.get("old")).splitlines(), text(edit.get("new")).splitlines()
    return list(unified_diff(before, after, lineterm="", n=2))[2:]


def counted_lines(lines: list[str]) -> tuple[int, int]:
    """Return how many lines a patch adds, and how many it takes away."""
    added = sum(each.startswith("+") for each in lines)
    return added, sum(each.startswith("-") for each in lines)
