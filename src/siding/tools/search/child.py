"""Search without ripgrep: a program of its own, so that a search can be ended and has own memory.

    python3 -I -S child.py '{"directory": …}'

It takes one JSON object (see `python_search`) and prints what ripgrep prints with ``--null``:
``path NUL number:line`` for a line that matches, ``path NUL number-line`` for one beside it,
``path NUL count``, or ``path NUL``. What it cannot do it says on standard error, with status 2.

Only the standard library is imported. Memory is bounded: files are read line by line, a longer line
in pieces.
"""

import json
import os
import re
import stat
import sys
from collections import deque
from collections.abc import Iterator
from fnmatch import translate
from itertools import count
from typing import Any, BinaryIO

NOT_SEARCHED = frozenset({".git", ".svn", ".hg", ".bzr", ".jj", ".sl"})
_LOOKED_AT = 1 << 16  # bytes in which a NUL means that a file is no text
_LONGEST_LINE = 1 << 20
_MOST_AT_ONCE = 32 << 20  # bytes of a file that is read whole
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_BOM = b"\xef\xbb\xbf"

Out = BinaryIO


def main(asked: dict[str, Any], out: Out) -> int:
    """Search, and return the exit status: 0 if something was found, 1 if not, 2 for an error."""
    try:
        pattern = _compiled(asked)
    except (re.error, RecursionError, OverflowError, ValueError) as error:
        sys.stderr.write(f"regex parse error: {error}\n")
        return 2
    found = False
    for path in _files(asked):
        if asked["mode"] == "list":
            out.write(os.fsencode(path) + b"\0")
            found = True
        elif _search(path, pattern, asked, out):
            found = True
    return 0 if found else 1


def _compiled(asked: dict[str, Any]) -> re.Pattern[str]:
    text = asked["pattern"]
    flags = re.MULTILINE | (re.IGNORECASE if asked["any_case"] else 0)
    if asked["multiline"]:
        return re.compile(text, flags | re.DOTALL)
    if re.search(r"(?<!\\)(?:\\\\)*(?:\\n|\n)", text):
        raise ValueError("the pattern has a line end: set `multiline`")
    return re.compile(text, flags)


def _files(asked: dict[str, Any]) -> Iterator[str]:
    """Yield the files to be searched, by their paths from the directory."""
    os.chdir(asked["directory"])
    if asked["file"]:
        yield asked["file"]
        return
    names = [re.compile(translate(each)).match for each in asked["names"]]
    for path in _listed(asked) if asked["listing"] else _walked(""):
        name = path.rpartition("/")[2]
        if (not names or any(fits(name) for fits in names)) and _is_file(path):
            yield path


def _listed(asked: dict[str, Any]) -> Iterator[str]:
    """Yield what git lists; a repository in this one is listed as a directory."""
    top = asked["prefix"]
    ignored = set(_entries(asked["ignored"]))
    for entry in dict.fromkeys(_entries(asked["listing"])):
        if entry in ignored or not entry.startswith(top):
            continue
        path = entry[len(top) :].rstrip("/")
        if not NOT_SEARCHED.isdisjoint(path.split("/")):
            continue
        if os.path.isdir(path) and not os.path.islink(path):
            yield from _walked(path)
        else:
            yield path


def _entries(file: str) -> Iterator[str]:
    rest = b""
    with open(file, "rb") as listing:
        while data := listing.read(1 << 16):
            *whole, rest = (rest + data).split(b"\0")
            yield from map(os.fsdecode, whole)


def _walked(top: str) -> Iterator[str]:
    """Yield the files below a directory; links are not followed, other file systems are."""
    left = [top]
    while left:
        directory = left.pop()
        try:
            with os.scandir(directory or ".") as found:
                entries = sorted(found, key=lambda each: each.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{directory}/{entry.name}" if directory else entry.name
            if entry.name in NOT_SEARCHED:
                continue
            if entry.is_dir(follow_symlinks=False):
                left.append(path)
            elif entry.is_file(follow_symlinks=False):
                yield path


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _search(path: str, pattern: re.Pattern[str], asked: dict[str, Any], out: Out) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    with os.fdopen(fd, "rb") as file:
        try:
            first = file.read(_LOOKED_AT)
            encoding = _WIDE.get(first[:2], "")
            if not encoding and b"\0" in first:
                return False
            if encoding or asked["multiline"]:
                if os.fstat(fd).st_size > _MOST_AT_ONCE:
                    sys.stderr.write(f"not searched, too large for this: {path!r}\n")
                    return False
                data = first + file.read(_MOST_AT_ONCE)
                lines = _of_text(data, encoding, pattern, multiline=asked["multiline"])
            else:
                file.seek(len(_BOM) if first.startswith(_BOM) else 0)
                lines = _of_file(file, pattern)
            return _told(os.fsencode(path), lines, asked, out)
        except OSError:
            return False


_Line = tuple[int, str, bool]  # its number, its text, and whether it matches


def _of_file(file: BinaryIO, pattern: re.Pattern[str]) -> Iterator[_Line]:
    number = 1
    while piece := file.readline(_LONGEST_LINE):
        if b"\0" in piece:
            return
        text = piece.removesuffix(b"\n").decode("utf-8", "replace")
        yield number, text, pattern.search(text) is not None
        number += piece.endswith(b"\n")


def _of_text(
    data: bytes, encoding: str, pattern: re.Pattern[str], *, multiline: bool
) -> Iterator[_Line]:
    if not encoding and b"\0" in data:
        return
    raw = data[2:] if encoding else data.removeprefix(_BOM)
    text = raw.decode(encoding or "utf-8", "replace")
    lines = text.removesuffix("\n").split("\n")
    if not multiline:
        for number, line in enumerate(lines, start=1):
            yield number, line, pattern.search(line) is not None
        return
    matching = _matching(text, lines, pattern)
    for number, line in enumerate(lines, start=1):
        yield number, line, number in matching


def _matching(text: str, lines: list[str], pattern: re.Pattern[str]) -> set[int]:
    """Return the numbers of the lines that matches touch."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found: set[int] = set()
    at = 0  # the line that the last match began in, from 0
    for match in pattern.finditer(text):
        begin, end = match.span()
        if begin == len(text) and text.endswith("\n"):
            break
        while starts[at + 1] <= begin:
            at += 1
        for number in count(at):
            if number >= len(lines) or (starts[number] >= end and number > at):
                break
            found.add(number + 1)
    return found


def _told(path: bytes, lines: Iterator[_Line], asked: dict[str, Any], out: Out) -> bool:
    match asked["mode"]:
        case "files_with_matches":
            found = any(matches for _number, _text, matches in lines)
            if found:
                out.write(path + b"\0")
            return found
        case "count":
            number = sum(matches for _number, _text, matches in lines)
            if number:
                out.write(b"%s\0%d\n" % (path, number))
            return number > 0
        case _:
            return _content(path, lines, asked, out)


def _content(path: bytes, lines: Iterator[_Line], asked: dict[str, Any], out: Out) -> bool:
    held: deque[tuple[int, str]] = deque(maxlen=asked["before"])
    after, found = 0, False

    def tell(number: int, mark: bytes, text: str) -> None:
        out.write(b"%s\0%d%s%s\n" % (path, number, mark, text.encode("utf-8", "replace")))

    for number, text, matches in lines:
        if matches:
            for earlier, line in held:
                tell(earlier, b"-", line)
            held.clear()
            tell(number, b":", text)
            after, found = asked["after"], True
        elif after:
            tell(number, b"-", text)
            after -= 1
        elif asked["before"]:
            held.append((number, text))
    return found


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), sys.stdout.buffer))
