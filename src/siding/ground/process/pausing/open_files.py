"""Linux: the files that a process has open, what it was started with, and where it works."""

import os
from collections.abc import Iterator

from siding.ground.namedtuples import NamedTuple

_PATH_ONLY = 0o10000000  # O_PATH: nothing can be written through it
_DELETED = " (deleted)"


class OpenFile(NamedTuple):
    """A file that a process has open. `is_locked`: it holds a lock of the file (`flock`)."""

    path: str
    is_written: bool
    is_locked: bool


def open_files(pid: int, below: tuple[str, ...]) -> Iterator[OpenFile]:
    """Yield the open files of a process that lie below these directories, which end with ``/``.

    Nothing is yielded for another user's process, whose files cannot be seen.
    """
    place = f"/proc/{pid}"
    try:
        numbers = os.listdir(f"{place}/fd")
    except OSError:
        return
    for number in numbers:
        try:
            path = os.readlink(f"{place}/fd/{number}")
            if not path.startswith(below) or _is_deleted(path):
                continue
            with open(f"{place}/fdinfo/{number}", encoding="ascii", errors="replace") as file:
                said = file.read()
        except OSError:
            continue  # closed meanwhile
        flags = _flags(said)
        yield OpenFile(
            path=path,
            is_written=flags & os.O_ACCMODE != os.O_RDONLY and not flags & _PATH_ONLY,
            is_locked="\nlock:" in said,
        )


def command_line(pid: int) -> list[str]:
    """Return the words with which a process was started; none if they cannot be seen."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return [os.fsdecode(word) for word in file.read(1 << 16).split(b"\0")[:-1]]
    except OSError:
        return []


def directory_of(pid: int) -> str:
    """Return the directory that a process works in; "" if it cannot be seen."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def _is_deleted(path: str) -> bool:
    return path.endswith(_DELETED) and not os.path.lexists(path)


def _flags(said: str) -> int:
    for line in said.splitlines():
        name, _, value = line.partition(":")
        if name == "flags":
            return int(value, 8)
    return 0
