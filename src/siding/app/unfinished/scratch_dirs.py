"""What dead commands left in directories of their own: swept when nobody holds them any more."""

from pathlib import Path

from siding.app.place.project import Project
from siding.git.snapshots.scratch import abandoned, sweep
from siding.git.snapshots.store import APPLIES, PEEKS

_YOUNG_S = 60  # its owner may not have taken its lock yet


def find_abandoned(project: Project) -> list[Path]:
    """Return the directories of looks and applies whose process is dead."""
    store = project.snapshots.root
    before = project.app.clock.now().timestamp() - _YOUNG_S
    return [path for name in (PEEKS, APPLIES) for path in abandoned(store / name, before=before)]


def sweep_abandoned(project: Project) -> int:
    """Remove them; return how many are gone."""
    return sum(sweep(path) for path in find_abandoned(project))
