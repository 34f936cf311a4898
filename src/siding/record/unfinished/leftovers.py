"""Remove what dead commands left, and runs of workflows that are in the project's trash.

The former are scratch directories and temporary files; the latter wait there for `siding gc`.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from siding.ground.files.stale import remove_if_stale, stale_temporaries
from siding.ground.storage.documents import listed_ids
from siding.ground.storage.layout import TaskLayout
from siding.record.place.project import Project
from siding.record.snapshots.scratch import abandoned, sweep
from siding.record.snapshots.store import APPLIES, PEEKS, remove_tree

# Seconds. What is younger is left alone: its owner may not have taken its lock yet.
_YOUNG_S = 60
_PREFIX = "workflow-run-"
_STAMP = "%Y%m%dT%H%M%S"


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


def trash_for(project: Project, run_id: str) -> str:
    """Return an unused path for a run, relative to the project."""
    stamp = project.app.clock.now().astimezone(UTC).strftime(_STAMP)
    return f"trash/{_PREFIX}{run_id}-{stamp}-{project.app.random_bytes(3).hex()}"


def free_workflow_trash(project: Project, older_s: float | None, *, dry_run: bool) -> int:
    """Delete the runs in the trash that were put there long enough ago; return their bytes."""
    freed = 0
    for place in _runs_in_trash(project):
        if not _is_older(project, place, older_s):
            continue
        freed += _size(place)
        if not dry_run:
            remove_tree(place)
    return freed


def _runs_in_trash(project: Project) -> list[Path]:
    try:
        names = sorted(os.listdir(project.layout.trash_dir))
    except FileNotFoundError:
        return []
    return [project.layout.trash_dir / name for name in names if name.startswith(_PREFIX)]


def _is_older(project: Project, place: Path, older_s: float | None) -> bool:
    if older_s is None:
        return True
    try:
        at = datetime.strptime(place.name.split("-")[-2], _STAMP).replace(tzinfo=UTC)
    except (ValueError, IndexError):
        return False
    return (project.app.clock.now() - at).total_seconds() > older_s


def _size(place: Path) -> int:
    return sum(
        os.lstat(os.path.join(root, name)).st_size
        for root, _directories, files in os.walk(place)
        for name in files
    )
