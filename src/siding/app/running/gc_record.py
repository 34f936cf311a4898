"""When a project was freed last, and whether it is time for the host of a run to do it again.

The time is in ``gc.json``; what was freed is in the project's events.
"""

from contextlib import suppress
from datetime import datetime

from siding.app.life.gc import Report, gc, plan_retention
from siding.app.place.events import GcEnded
from siding.app.place.project import Project
from siding.errors import SidingError
from siding.storage.documents import read_document_or_none, write_document
from siding.storage.locks import FileLock

GC_VERSION = 1
EVERY_S = 7 * 86400.0  # between two that nobody asked for


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
    locks = [project.task_layout(task_id).lock for task_id in project.tasks.ids()]
    with suppress(FileNotFoundError):
        locks += [path for path in project.layout.locks_dir.iterdir() if path.is_file()]
    return any(FileLock(path).is_locked() for path in locks)


def note_gc(project: Project, report: Report, *, background: bool = False) -> None:
    """Record that the project was freed. A disk that fails now is no reason for `gc` to fail."""
    thinned = report.thinned
    freed = {
        "tasks": [each.task.id for each in report.done if each.failed is None],
        "bytes": sum(each.freed for each in report.done),
        "snapshots": 0 if thinned is None else thinned.steps,
        "store": 0 if thinned is None else thinned.bytes,
        "displaced": report.displaced,
        "swept": report.swept,
        "branches": [each.branch for each in report.branches],
    }
    failed = [f"{each.task.id}: {each.failed}" for each in report.done if each.failed]
    if thinned is not None and thinned.failed:
        failed.append(thinned.failed)
    with suppress(SidingError, OSError):
        document = {"version": GC_VERSION, "at": project.app.now()}
        write_document(project.layout.gc_json, document)
        project.events.emit(GcEnded(freed, background=background, error="; ".join(failed)))


def gc_in_background(project: Project) -> None:
    """Free what the settings say, unless that is not due any more or somebody works."""
    settings = project.settings
    if not settings.gc_background or not is_due(project) or somebody_works(project):
        return
    older_s = settings.gc_older_s
    retention = None if older_s is None else plan_retention(project, older_s)
    try:
        report = gc(project, budget=None, dry_run=False, older_s=older_s, retention=retention)
    except (SidingError, OSError) as error:
        with suppress(SidingError, OSError):
            project.events.emit(GcEnded({}, background=True, error=str(error)))
        raise
    note_gc(project, report, background=True)
