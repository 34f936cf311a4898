"""What the model reads of a search, and the details for programs as Claude Code has them."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from siding.assistant.tools.port import Result
from siding.assistant.tools.search.request import Hit, Mode
from siding.ground.namedtuples import NamedTuple

_LONGEST = 500  # characters of a line


class Page(NamedTuple):
    """Which of the entries are shown. `most` 0 is all."""

    offset: int = 0
    most: int = 0

    def of(self, entries: Sequence[str]) -> list[str]:
        """Return the entries of this page."""
        end = self.offset + self.most if self.most else len(entries)
        return list(entries[self.offset : end])

    def rest(self, entries: Sequence[str]) -> str:
        """Return what to tell of the entries that are not shown; "" if there are none."""
        if not self.most or self.offset + self.most >= len(entries):
            return ""
        last = self.offset + self.most
        return (
            f"({self.offset + 1} to {last} of {len(entries):,}. To go on, search with offset "
            f"{last}.)"
        )


def newest_first(directory: Path, paths: Iterable[str]) -> list[str]:
    """Return paths from a directory by when they were changed; those that are gone are last."""

    def changed(path: str) -> tuple[int, str]:
        try:
            return -os.lstat(directory / path).st_mtime_ns, path
        except OSError:
            return 0, path

    return sorted(paths, key=changed)


def content_lines(hits: Sequence[Hit], names: dict[str, str], *, numbered: bool) -> list[str]:
    """Return the lines as ripgrep prints them: ``path:12:text``, ``path-13-text``, ``--``.

    `names` has for each path how it is shown.
    """
    shown: list[str] = []
    has_context = any(not line.matches for hit in hits for line in hit.lines)
    for hit in sorted(hits, key=lambda each: each.path):
        last = 0
        for line in hit.lines:
            if has_context and shown and line.number != last + 1:
                shown.append("--")
            mark = ":" if line.matches else "-"
            number = f"{line.number}{mark}" if numbered else ""
            shown.append(f"{names[hit.path]}{mark}{number}{_cut(line.text)}")
            last = line.number
    return shown


def result_of(
    mode: Mode, entries: Sequence[str], page: Page, hits: Sequence[Hit], notes: Sequence[str]
) -> Result:
    """Return the result of a search that has found something."""
    shown = page.of(entries)
    files = len(hits)
    matches = sum(each.total for each in hits)
    head = {
        Mode.FILES: f"{_number(files, 'file')}, the newest first:",
        Mode.COUNT: f"{_number(matches, 'line')} in {_number(files, 'file')}:",
    }.get(mode, "")
    if not shown:
        shown = [f"(There is nothing from offset {page.offset} on.)"]
    text = "\n".join(each for each in (head, *shown, page.rest(entries), *notes) if each)
    details: dict[str, Any] = {"mode": mode.value, "numFiles": files, "filenames": []}
    match mode:
        case Mode.FILES:
            details["filenames"] = page.of(entries)
        case Mode.COUNT:
            details |= {"content": "\n".join(shown), "numMatches": matches}
        case _:
            details |= {"content": "\n".join(shown), "numLines": len(shown)}
    if page.rest(entries):
        details["appliedLimit"] = page.most
    if page.offset:
        details["appliedOffset"] = page.offset
    lines = sum(line.matches for hit in hits for line in hit.lines)
    told = f"{_number(lines, 'line')} in {_number(files, 'file')}" if lines else head.rstrip(":")
    return Result(text, shown=told.partition(",")[0], details=details)


def _cut(text: str) -> str:
    line = text.removesuffix("\r")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}… (a long line)"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
