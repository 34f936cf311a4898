"""Linux: what /proc tells of one process in detail: its threads, children, open files, words."""

import os
from collections.abc import Iterator

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.procfs import all_processes

# The states of a thread (proc(5)) in which it runs no code of its program.
HALTED = frozenset("TtZX")
IN_KERNEL = "D"  # it cannot be interrupted, and halts before it returns to its program
_PATH_ONLY = 0o10000000  # O_PATH: nothing can be written through it
_DELETED = " (deleted)"


def thread_states(pid: int) -> str:
    """Return the state of each thread of a process, a letter each; "" if it is gone."""
    return "".join(map(_state, _threads(pid)))


def is_stopped(pid: int) -> bool:
    """Tell whether a process was stopped by a signal, and not by a debugger."""
    return _state(f"/proc/{pid}") == "T"


def children_of(pid: int) -> list[int]:
    """Return the pids of a process's children. The list is exact only while the process halts."""
    found: list[int] = []
    for thread in _threads(pid):
        try:
            with open(f"{thread}/children", "rb", buffering=0) as file:
                found += map(int, file.read(1 << 20).split())
        except FileNotFoundError:
            if os.path.exists(thread):  # the kernel has no CONFIG_PROC_CHILDREN
                return [each.pid for each in all_processes().values() if each.parent == pid]
        except OSError:
            continue
    return found


def _threads(pid: int) -> list[str]:
    place = f"/proc/{pid}/task"
    try:
        return [f"{place}/{name}" for name in os.listdir(place)]
    except OSError:
        return []


def _state(place: str) -> str:
    """Return the letter of a process or thread; "" if it is gone."""
    try:
        with open(f"{place}/stat", "rb", buffering=0) as file:
            line = file.read(1024)
    except OSError:
        return ""
    after_name = line.rfind(b")") + 2
    return line[after_name : after_name + 1].decode("ascii", "replace")


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
