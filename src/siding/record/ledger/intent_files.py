"""Tell whether acts are in progress, by the names of their files alone.

Most commands find none, and need nothing else of `siding.record.ledger.intents`.
"""

import os
from pathlib import Path

from siding.ground.ids import is_act_id
from siding.ground.storage.layout import TaskLayout

SUFFIX = ".json"


def has_intents(task_directory: str) -> bool:
    """Return whether a task has an intent; this lists one directory and reads no file."""
    return bool(intent_paths(TaskLayout(Path(task_directory))))


def intent_paths(layout: TaskLayout) -> list[Path]:
    """Return the paths of a task's intents; usually there are none."""
    directory = os.fspath(layout.intents_dir)
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        names = []
    found = [Path(directory, name) for name in names if is_intent(name)]
    old = layout.running_json
    return [*found, old] if os.path.lexists(old) else found


def is_intent(name: str) -> bool:
    """Tell whether a file name is that of an intent, and not of a lock or somebody's file."""
    return name.endswith(SUFFIX) and is_act_id(name.removesuffix(SUFFIX))
