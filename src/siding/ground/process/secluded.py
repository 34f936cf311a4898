"""Keep other processes of the same user from reading what this one was started with.

``/proc/PID/environ`` shows the environment that a process was started with for as long as it lives.
`seclude` overwrites variables there, and asks the kernel to keep the memory of the process from
others of its user (PR_SET_DUMPABLE). A program with the right to trace any process (root outside of
a sandbox) can still read the memory, but no longer finds the variables in the environment.

The processes above this one have an environment of their own, which is not ours to change.
"""

import os
import sys
from collections.abc import Collection
from contextlib import suppress

from siding.ground.process.command import MARK_VARIABLE, TOKEN_VARIABLE, with_marks_alone

_PR_SET_DUMPABLE = 4
_ENV_START, _ENV_END = 47, 48  # fields of /proc/PID/stat behind the name, counted from 0


def seclude(names: Collection[str]) -> None:
    """Hide these variables, and the tokens of steps behind their marks; keep `os.environ`.

    Nothing is done where the system has no /proc, or does not permit it.
    """
    if sys.platform != "linux":
        return
    with suppress(OSError, ValueError, IndexError):
        _overwrite(frozenset(names))
    _keep_memory_apart()


def _overwrite(names: frozenset[str]) -> None:
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[_ENV_START]), int(fields[_ENV_END])
    if not 0 < start < end:
        return
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(start)
        before = memory.read(end - start)
        after = b"\0".join(_shown(entry, names) for entry in before.split(b"\0"))
        memory.seek(start)
        memory.write(after)


def _shown(entry: bytes, names: frozenset[str]) -> bytes:
    """Return what stands in the place of one entry, in as many bytes."""
    name, _equals, value = entry.partition(b"=")
    if os.fsdecode(name) in names:
        return bytes(len(entry))
    if name == TOKEN_VARIABLE.encode():
        marks = with_marks_alone({TOKEN_VARIABLE: value.decode(errors="replace")})
        shown = f"{MARK_VARIABLE}={marks.get(MARK_VARIABLE, '')}".encode()
        return shown.ljust(len(entry), b"\0") if len(shown) <= len(entry) else bytes(len(entry))
    return entry


def _keep_memory_apart() -> None:
    import ctypes  # only processes that have secrets pay for it

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
