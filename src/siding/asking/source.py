"""Read the source lines that a question names, and the lines around them.

An agent chose the path and can change the files. So only files inside the project are read: every
directory of the path is opened without following links, and a link, a pipe or anything in ``.git``
is refused.
"""

import os
import stat
from pathlib import Path

from siding.ground.namedtuples import NamedTuple

AROUND = 3  # lines shown before and after the named ones
MOST_LINES = 400
MOST_BYTES = 4 * 1024 * 1024
LONGEST_LINE = 2_000  # characters

# O_NONBLOCK: opening a named pipe without a writer would wait for ever.
_STEP = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class SourceLine(NamedTuple):
    """One line; ``asked`` is true if the question names it. The text is untrusted."""

    number: int
    text: str
    asked: bool


class QuotedSource(NamedTuple):
    """The lines to show; if there are none, ``problem`` says why.

    ``above`` are all lines of the file before the first line shown; syntax highlighting needs them.
    """

    file: str
    start: int
    end: int
    lines: tuple[SourceLine, ...]
    problem: str = ""
    above: tuple[str, ...] = ()


def read_source(root: Path, file: str, start: int, end: int) -> QuotedSource:
    """Return lines `start` to `end` (1-based) of a file below `root`, and the lines around them.

    Never raises for the file: `QuotedSource.problem` says why nothing can be shown.
    """
    source = QuotedSource(file=file, start=start, end=end, lines=())
    try:
        text = _read(root, file)
    except FileNotFoundError:
        return source._replace(problem="there is no such file now")
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        return source._replace(problem=f"it cannot be shown: {reason}")
    lines = text.splitlines()
    first, last = max(1, start - AROUND), min(len(lines), end + AROUND, start + MOST_LINES)
    if first > len(lines):
        return source._replace(problem=f"the file has only {len(lines)} lines now")
    shown = tuple(
        SourceLine(
            number=number, text=lines[number - 1][:LONGEST_LINE], asked=start <= number <= end
        )
        for number in range(first, last + 1)
    )
    return source._replace(lines=shown, above=tuple(lines[: first - 1]))


def _read(root: Path, file: str) -> str:
    *directories, name = _parts(file)
    here = os.open(root, _STEP | os.O_DIRECTORY)
    try:
        for each in directories:
            inner = os.open(each, _STEP | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = inner
        fd = os.open(name, _STEP, dir_fd=here)
    finally:
        os.close(here)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError("it is not a regular file")
        data = os.read(fd, MOST_BYTES)
    finally:
        os.close(fd)
    if b"\0" in data[:8192]:
        raise ValueError("it is not a text")
    return data.decode("utf-8", "replace")


def _parts(file: str) -> list[str]:
    parts = [part for part in file.split("/") if part not in ("", ".")]
    if file.startswith("/") or not parts or ".." in parts or "\0" in file:
        raise ValueError("it is not inside the project")
    if any(part.lower() == ".git" for part in parts):
        raise ValueError("it belongs to git")
    return parts
