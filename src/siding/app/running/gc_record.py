"""Whether it is time for the host of a run to have the project freed: ``gc.json`` says when it was
done last. Every run loads this.
"""

from contextlib import suppress
from datetime import datetime

from siding.app.place.project import Project
from siding.errors import SidingError
from siding.storage.documents import read_document_or_none
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
    locks = [project.task_layout(task_id).lock for task_id in project.ids_at_work()]
    with suppress(FileNotFoundError):
        locks += [path for path in project.layout.locks_dir.iterdir() if path.is_file()]
    return any(FileLock(path).is_locked() for path in locks)
