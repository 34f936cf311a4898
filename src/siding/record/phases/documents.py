"""The documents of a task's phases, as bytes: they go with the state of the task.

flow-status.json                the present pass
flow-status.<pass>.json         earlier passes
"""

from collections.abc import Mapping
from os import scandir
from pathlib import Path

from siding.ground.files.durable import flush_dir, replace_bytes
from siding.ground.files.regular import read_small

CURRENT = "flow-status.json"
PREFIX, SUFFIX = "flow-status.", ".json"
_LARGEST = 16 << 20  # bytes


def document_names(task_root: Path) -> list[str]:
    """Return the names of the documents, sorted."""
    try:
        with scandir(task_root) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX)
            )
    except FileNotFoundError:
        return []


def read_documents(task_root: Path) -> dict[str, bytes]:
    """Return the documents by their names; one that no phase can be in, by its size, is left out.

    Its beginning alone would be recorded, and put in its place by who goes back.
    """
    found = {name: read_small(task_root / name, _LARGEST + 1) for name in document_names(task_root)}
    return {
        name: data for name, data in found.items() if data is not None and len(data) <= _LARGEST
    }


def put_documents(task_root: Path, wanted: Mapping[str, bytes]) -> None:
    """Make the documents exactly these, durably; the caller holds the lock of the phases.

    The present pass is written last, and no earlier one is removed before. So a reader of a state
    that was cut off sees a pass too many, never one too few.
    """
    there = read_documents(task_root)
    for name, data in sorted(wanted.items(), key=lambda item: item[0] == CURRENT):
        if there.get(name) != data:
            replace_bytes(task_root / name, data)
    for name in there.keys() - wanted.keys():
        (task_root / name).unlink(missing_ok=True)
    flush_dir(task_root)
