"""One storage operation as a process of its own: the victim of test_storage_faults.

    storage_victim.py OPERATION ARGUMENT...      in the case directory

Prints a promise when an operation returned, and ends with 1 and a message when it raised what
callers are told to expect.
"""

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from siding.ground.errors import SidingError
from siding.ground.files.durable import create_bytes, make_dirs, move_aside, remove_file
from siding.ground.storage.documents import migrate_document, read_document, write_document
from siding.ground.storage.journals import Journal
from siding.ground.storage.locks import FileLock

JOURNAL, COUNT, OLD_FORMAT = Path("steps.jsonl"), Path("count.json"), Path("old.json")
FILLER = "x" * 3000
MIGRATIONS = {1: lambda data: {**data, "state": data["state"].upper()}}


def digest(raw: bytes | None) -> str:
    return hashlib.sha256(raw or b"").hexdigest()


def append(name: str) -> str:
    Journal(JOURNAL, lock_timeout_s=None).append_built(
        lambda previous: {"name": name, "prev": digest(previous)}
    )
    return name


def count(_name: str) -> str:
    """Read, add one, write: right only under a lock."""
    with FileLock(Path("count.lock")).acquire(timeout_s=None):
        data: dict[str, Any] = read_document(COUNT, what="count", version=1)
        data["count"] += 1
        write_document(COUNT, data)
    return str(data["count"])


def migrate(_name: str) -> str:
    migrate_document(OLD_FORMAT, what="toy", version=2, migrations=MIGRATIONS)
    return "migrated"


def move(name: str) -> str:
    move_aside(Path("kept", name), Path("trash", name))
    return name


def move_rest(_name: str) -> str:
    for path in sorted(Path("kept").iterdir()):
        move_aside(path, Path("trash", path.name))
    return "moved"


def create(name: str) -> str:
    make_dirs(Path("a/b/c"))
    create_bytes(Path("a/b/c", name), name.encode() * 1000)
    return name


def remove(name: str) -> str:
    remove_file(Path("kept", name))
    return name


def read(_name: str) -> str:
    read_document(COUNT, what="count", version=1)
    FileLock(Path("count.lock")).holder()
    return str(len(list(Journal(JOURNAL).entries())) + len(Journal(JOURNAL).tail(1)))


OPERATIONS: dict[str, Callable[[str], str]] = {
    function.__name__: function
    for function in (append, count, migrate, move, move_rest, create, remove, read)
}


def main(operation: str, arguments: list[str]) -> int:
    try:
        for argument in arguments:
            print(OPERATIONS[operation](argument), flush=True)
    except (OSError, SidingError) as error:
        print(f"storage: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
