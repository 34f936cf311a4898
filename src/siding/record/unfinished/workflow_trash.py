"""Runs of workflows in the project's trash, until `siding gc` frees them."""

import os
from datetime import UTC, datetime
from pathlib import Path

from siding.record.place.project import Project
from siding.record.snapshots.store import remove_tree

_PREFIX = "workflow-run-"
_STAMP = "%Y%m%dT%H%M%S"


def trash_for(project: Project, run_id: str) -> str:
    """Return an unused path for a run, relative to the project."""
    stamp = project.app.clock.now().astimezone(UTC).strftime(_STAMP)
    return f"trash/{_PREFIX}{run_id}-{stamp}-{project.app.random_bytes(3).hex()}"


def free_workflow_trash(project: Project, older_s: float | None, *, dry_run: bool) -> int:
    """Delete the runs in the trash that were put there long enough ago; return their bytes."""
    freed = 0
    for place in _places(project):
        if not _is_older(project, place, older_s):
            continue
        freed += _size(place)
        if not dry_run:
            remove_tree(place)
    return freed


def _places(project: Project) -> list[Path]:
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
