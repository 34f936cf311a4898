"""Reading what ripgrep prints with ``--null``."""

import os
import re

from siding.assistant.tools.search.request import Hit, Line, Mode

# ripgrep says this among the lines, of a file in which a NUL came late.
_BINARY = re.compile(
    rb'.*: (?:WARNING: stopped searching binary file|binary file matches)[^\n]*"\\0" byte[^\n]*\n'
)
_LINE = re.compile(rb"(\d+)([:-])([^\n]*)(?:\n|\Z)")
_COUNT = re.compile(rb"(\d+)(?:\n|\Z)")
# How ripgrep ends a line of which it shows the beginning.
_SHORTENED = re.compile(r" \[\.\.\. (?:omitted end of long line|\d+ more match(?:es)?)\]\Z")

LONGEST_LINE = 2000  # bytes of a line that ripgrep prints


def parsed(data: bytes, mode: Mode, *, is_cut: bool) -> list[Hit]:
    """Return what was found; of output that was cut, the last entry is left out."""
    if mode in (Mode.FILES, Mode.LIST):
        paths = data.split(b"\0")[:-1]
        return [Hit(_path(path)) for path in paths]
    pattern = _COUNT if mode is Mode.COUNT else _LINE
    lines: dict[bytes, list[Line]] = {}
    counts: dict[bytes, int] = {}
    at = 0
    end = data.rfind(b"\n") + 1 if is_cut else len(data)
    while at < end:
        if noise := _BINARY.match(data, at):
            at = noise.end()
            continue
        nul = data.find(b"\0", at, end)
        found = pattern.match(data, nul + 1, end) if nul >= 0 else None
        if found is None:
            break
        path, at = data[at:nul], found.end()
        if mode is Mode.COUNT:
            counts[path] = int(found.group(1))
        else:
            lines.setdefault(path, []).append(_line(found))
    if mode is Mode.COUNT:
        return [Hit(_path(path), total=number) for path, number in counts.items()]
    return [Hit(_path(path), tuple(each)) for path, each in lines.items()]


def _line(found: re.Match[bytes]) -> Line:
    text = found.group(3).decode("utf-8", "replace")
    if len(text) > LONGEST_LINE // 4:
        text = _SHORTENED.sub("", text)
    return Line(int(found.group(1)), text, found.group(2) == b":")


def _path(raw: bytes) -> str:
    return os.fsdecode(raw).removeprefix("./")
