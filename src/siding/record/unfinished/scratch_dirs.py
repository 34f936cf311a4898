"""Remove the scratch directories and temporary files of commands that died."""

import os
from collections.abc import Iterator
from pathlib import Path

from siding.ground.files.stale import remove_if_stale, stale_temporaries
from siding.ground.storage.documents import listed_ids
from siding.ground.storage.layout import TaskLayout
from siding.record.place.project import Project
from siding.record.snapshots.scratch import abandoned, sweep
from siding.record.snapshots.store import APPLIES, PEEKS

# Seconds. What is younger is left alone: its owner may not have taken its lock yet.
_YOUNG_S = 60


def find_abandoned(project: Project) -> list[Path]:
    """Return what dead processes left: the scratch directories of peeks and applies, the files of
    agents that workflows called, and documents that were being written."""
    return [*_directories(project), *_temporaries(project)]


def sweep_abandoned(project: Project) -> int:
    """Remove these directories and files; return how many were removed."""
    return sum(map(sweep, _directories(project))) + sum(map(remove_if_stale, _temporaries(project)))


def _directories(project: Project) -> list[Path]:
    store = project.snapshots.root
    before = _before(project)
    parents = [*(store / name for name in (PEEKS, APPLIES)), *_asked(project)]
    return [path for parent in parents for path in abandoned(parent, before=before)]


def _asked(project: Project) -> Iterator[Path]:
    """Yield where tasks and forks have the files of agents that are at work."""
    for tasks in (project.layout.tasks_dir, project.layout.forks.tasks_dir):
        yield from (TaskLayout(tasks / name).asked_dir for name in listed_ids(tasks))


def _temporaries(project: Project) -> list[Path]:
    found = [path for where in _places(project) for path in stale_temporaries(where)]
    return [path for path in found if path.lstat().st_mtime < _before(project)]


def _places(project: Project) -> Iterator[Path]:
    """Yield the directories in which documents are written."""
    layout = project.layout
    others = {layout.workspaces_dir, layout.trash_dir, layout.snapshots_git}
    others.add(layout.forks.workspaces_dir)
    for directory, inside, _names in os.walk(layout.root):
        where = Path(directory)
        yield where
        inside[:] = [name for name in inside if where / name not in others]


def _before(project: Project) -> float:
    return project.app.clock.now().timestamp() - _YOUNG_S
