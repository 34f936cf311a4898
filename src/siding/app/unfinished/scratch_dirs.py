"""Remove the scratch directories of commands that died."""

from pathlib import Path

from siding.app.place.project import Project
from siding.git.snapshots.scratch import abandoned, sweep
from siding.git.snapshots.store import APPLIES, PEEKS

# Seconds. A younger directory is left alone: its owner may not have taken its lock yet.
_YOUNG_S = 60


def find_abandoned(project: Project) -> list[Path]:
    """Return the scratch directories of peeks and applies whose process is dead."""
    store = project.snapshots.root
    before = project.app.clock.now().timestamp() - _YOUNG_S
    return [path for name in (PEEKS, APPLIES) for path in abandoned(store / name, before=before)]


def sweep_abandoned(project: Project) -> int:
    """Remove these directories; return how many were removed."""
    return sum(sweep(path) for path in find_abandoned(project))
