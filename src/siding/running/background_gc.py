"""Start `siding gc` beside a long run, in a quiet moment, if the settings say so.

It is a process of its own, at low priority, and goes on when the run ends. Killed anywhere, it has
lost nothing (`tasks/gc.py`). When it was done last is in ``gc.json``.
"""

import sys
import time
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from siding.ground.errors import SidingError
from siding.ground.process.capture import CannotStart, Running, start
from siding.ground.process.tree import ProcessTree
from siding.ground.process.turns import Quiet
from siding.ground.storage.documents import read_document_or_none
from siding.ground.storage.locks import FileLock
from siding.record.place.project import Project

if TYPE_CHECKING:
    from siding.ground.process.ports import Looks

GC_VERSION = 1
EVERY_S = 7 * 86400.0  # between two that nobody asked for
_QUIET_S = 2.0
_AGAIN_S = 86400.0  # after one was started, whatever came of it
_LONGEST_S = 3600.0  # between looks at the run


def gc_looks(project: Project, tree: ProcessTree) -> "Looks":
    """Return what starts `siding gc` beside a run, where the settings say so."""
    return _GcLooks(project, tree)


class _GcLooks:
    """Looks for a quiet moment in which `siding gc` is due and nobody holds a lock."""

    def __init__(self, project: Project, tree: ProcessTree) -> None:
        now = time.monotonic()
        self._project = project
        self._quiet = Quiet(tree, _QUIET_S, now)
        self._not_before = now
        self._running: Running | None = None

    def pause(self, now: float) -> float:
        return max(0.0, min(_LONGEST_S, max(self._quiet.due, self._not_before) - now))

    def output(self, now: float) -> None:
        self._quiet.disturbed(now)

    def look(self, now: float) -> None:
        if self._running is not None and self._running.has_ended():
            self._running.finish()
            self._running = None
        if now < self._not_before or not self._quiet.has_come(now):
            return
        self._quiet.disturbed(now)  # or a run that does nothing at all would have no second one
        if not is_due(self._project):
            self._not_before = now + _LONGEST_S
        elif not somebody_works(self._project):
            self._not_before = now + _AGAIN_S
            self._begin()

    def finish(self) -> None:
        """Leave it alone: it goes on without us."""

    def _begin(self) -> None:
        app = self._project.app
        words = ["-C", str(self._project.paths.root), "-q", "gc", "--background"]
        try:
            self._running = start(
                # With -m, Python looks for the package in the directory first: one of ours.
                [sys.executable, "-m", "siding", *words],
                env={**app.env, "SIDING_HOME": str(app.home.root)},
                cwd=self._project.layout.root,
            )
        except (CannotStart, OSError) as error:
            app.warn(f"`siding gc` could not be started: {error}")


def is_due(project: Project) -> bool:
    """Tell whether the project was freed more than a week ago, or never."""
    try:
        found = read_document_or_none(project.layout.gc_json, what="a time", version=GC_VERSION)
        at = datetime.fromisoformat(str((found or {}).get("at")))
        return abs((project.app.clock.now() - at).total_seconds()) > EVERY_S
    except (SidingError, ValueError, TypeError, OSError):
        return True


def somebody_works(project: Project) -> bool:
    """Tell whether a command holds a lock of the project: only then can another wait for it."""
    locks = [project.task_layout(task_id).lock for task_id in project.ids_at_work()]
    with suppress(FileNotFoundError):
        locks += [path for path in project.layout.locks_dir.iterdir() if path.is_file()]
    return any(FileLock(path).is_locked() for path in locks)
