"""Free what is not needed, and note that it was done: when in ``gc.json``, what in the events."""

from contextlib import suppress

from siding.ground.errors import SidingError
from siding.ground.storage.documents import write_document
from siding.record.place.events import GcEnded
from siding.record.place.project import Project
from siding.running.background_gc import GC_VERSION, is_due, somebody_works
from siding.tasks.gc import Report, gc, plan_retention


def note_gc(project: Project, report: Report, *, background: bool = False) -> None:
    """Record that the project was freed. A disk that fails now is no reason for `gc` to fail."""
    thinned = report.thinned
    freed = {
        "tasks": [each.task.id for each in report.done if each.failed is None],
        "bytes": sum(each.freed for each in report.done),
        "snapshots": 0 if thinned is None else thinned.steps,
        "store": 0 if thinned is None else thinned.bytes,
        "patches": 0 if thinned is None else thinned.patches,
        "patch_bytes": 0 if thinned is None else thinned.patch_bytes,
        "displaced": report.displaced,
        "swept": report.swept,
        "branches": [each.branch for each in report.branches],
    }
    failed = [
        f"{each.task.id}: {each.failed}" for each in report.done if each.failed and not each.way_out
    ]
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
