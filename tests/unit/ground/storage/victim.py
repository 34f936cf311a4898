"""A process that dies, tears or fails at its N-th change of the disk.

Tests fork themselves and call `main`, or run it as a program when a mistake is to be planted first.

    victim.py OPERATION PATH MODE N

MODE: `kill` dies before the call; `torn` does half of a write and dies; `EIO` and other names fail
the call with that error; `short` makes every write take one byte at most. Prints `ACK` when the
operation has returned, `FAILED <error>` when it raised, and `CALLS <count>` when it got that far.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from siding.ground.errors import SidingError
from siding.ground.files.durable import create_bytes, make_dirs, move_aside, remove_file
from siding.ground.storage.documents import migrate_document, write_document
from siding.ground.storage.journals import Journal

MIGRATIONS = {1: lambda data: {**data, "state": "new"}}

OPERATIONS: dict[str, Callable[[Path], object]] = {
    "append": lambda path: Journal(path).append({"n": "new"}),
    "create": lambda path: create_bytes(path, b"new" * 1000),
    "document": lambda path: write_document(path, {"state": "new", "filler": "x" * 5000}),
    "make_dirs": lambda path: make_dirs(path / "a" / "b"),
    "migrate": lambda path: migrate_document(path, what="toy", version=2, migrations=MIGRATIONS),
    "move_file": lambda path: move_aside(path, path.parent / "trash" / path.name),
    "remove": remove_file,
}

CHANGES = ("open", "write", "fsync", "rename", "link", "unlink", "ftruncate", "mkdir")
_count = 0


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _wrap(name: str, mode: str, at: int) -> None:
    real = getattr(os, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        global _count
        if name == "open" and not args[1] & (os.O_CREAT | os.O_TRUNC):
            return real(*args, **kwargs)
        _count += 1
        if mode == "short" and name == "write":
            return real(args[0], bytes(args[1])[:1])
        if _count == at and mode == "kill":
            _die()
        elif _count == at and mode == "torn" and name == "write":
            real(args[0], bytes(args[1])[: len(args[1]) // 2])
            _die()
        elif _count == at and mode.startswith("E"):
            raise OSError(getattr(errno, mode), os.strerror(getattr(errno, mode)))
        return real(*args, **kwargs)

    setattr(os, name, call)


def main(words: Sequence[str], told: TextIO) -> None:
    """Do it, and write to `told` how it ended. Changes this process's `os` for good."""
    operation, path, mode, at = words
    for name in CHANGES:
        _wrap(name, mode, int(at))
    try:
        OPERATIONS[operation](Path(path))
    except (OSError, SidingError) as error:
        print("FAILED", error, file=told)
    else:
        print("ACK", file=told)
    print("CALLS", _count, file=told)


if __name__ == "__main__":
    main(sys.argv[1:], sys.stdout)
