"""Homes with many tasks and steps, written through the package's own stores."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks.bench import Bench
from siding.ground.files.durable import make_dirs
from siding.ground.ids import TaskId, new_task_id, step_id
from siding.ground.storage.documents import read_document, write_document
from siding.ground.storage.layout import ProjectLayout
from siding.record.ledger.store import Ledger
from siding.record.tasks.store import TaskStore

FILES = 200  # in the repository: reading commands ask git one question of the active workspace
ACTIVE_SHARE = 2  # the active task has every second step: a long ledger beside many short ones


class HomeOfMany(NamedTuple):
    """A project with many tasks."""

    repository: Path
    env: dict[str, str]
    layout: ProjectLayout
    active: TaskId


def make(bench: Bench, *, tasks: int, steps: int, active: int | None = None) -> HomeOfMany:
    """Return a project of so many tasks and, over all of them, steps.

    The active task has `active` of them, by default every second one. It is real, with a workspace
    and a recorded run; all others and their steps are written after its pattern, by the stores that
    commands use.
    """
    repository = bench.repository(FILES)
    long = steps // ACTIVE_SHARE if active is None else active
    env = bench.home(f"home-{tasks}-{steps}-{long}")
    for words in (["task", "start", "the real one"], ["run", "--", "true"]):
        bench.run([bench.siding, *words], cwd=repository, env=env)
    (root,) = (Path(env["SIDING_HOME"]) / "projects").iterdir()
    layout = ProjectLayout(root)
    (real,) = TaskStore(layout).ids()
    with patch.object(os, "fsync"):  # ten thousand flushes are not what is measured
        fill(layout, real, tasks=tasks, steps=steps, long=long)
    return HomeOfMany(repository=repository, env=env, layout=layout, active=real)


def fill(layout: ProjectLayout, active: TaskId, *, tasks: int, steps: int, long: int) -> None:
    """Write tasks and steps after the pattern of a real task."""
    pattern = json.loads(layout.task(active).ledger_jsonl.read_text(encoding="utf-8"))
    _append(layout, active, pattern, first=2, count=long - 1)
    others = tasks - 1
    short = (steps - long) // others
    store = TaskStore(layout)
    model = store.load(active)
    registered = _registered(layout)
    for number in range(others):
        task_id = new_task_id(_bytes_of(number))
        place = str(layout.workspace(task_id))
        name = f"task number {number}"
        task = model._replace(id=task_id, name=name, worktree=f"{name}-{task_id}")
        store.save(task)
        _append(layout, task_id, pattern, first=1, count=short)
        entry = {**registered["worktrees"][0], "task_id": task_id, "name": task.worktree}
        registered["worktrees"].append({**entry, "path": place, "branch": f"siding/{task_id}"})
    write_document(layout.worktrees_json, registered)


def _append(
    layout: ProjectLayout, task_id: TaskId, pattern: Mapping[str, Any], *, first: int, count: int
) -> None:
    path = layout.task(task_id).ledger_jsonl
    make_dirs(path.parent)
    ledger = Ledger(path)
    for number in range(first, first + count):
        ledger.append({**pattern, "step_id": step_id(number)})


def _registered(layout: ProjectLayout) -> dict[str, Any]:
    return read_document(layout.worktrees_json, what="workspace registry", version=1)


def _bytes_of(number: int) -> Any:
    """Return a source of bytes that gives every number a task id of its own."""
    digits = number.to_bytes(4, "big")

    def random_bytes(count: int) -> bytes:
        # Each half byte becomes a letter: below the alphabet's size, so none is passed over.
        halves = [half for byte in digits for half in (byte >> 4, byte & 15)]
        return bytes((halves * count)[:count])

    return random_bytes
