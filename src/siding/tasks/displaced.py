"""Delete files that rollbacks replaced, where the snapshots hold them and nobody writes them.

What others wrote during a rollback has a name of its own and stays
(`record/files/displaced.py`).
"""

from collections.abc import Iterator
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.storage.locks import LockBusy
from siding.record.files.displaced import (
    DISPLACED,
    KEPT,
    keep_unrecorded,
    read_names,
    remove_if_empty,
)
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.snapshots.store import remove_tree
from siding.record.tasks.task import TaskBusy
from siding.record.unfinished.displaced_files import drop_displaced
from siding.record.workspaces.archives import places_in_trash


def displaced_places(project: Project) -> Iterator[tuple[TaskId, Path]]:
    """Yield the directories of displaced files, and their tasks."""
    for task_id in project.tasks.ids():
        for place in places_in_trash(project, task_id):
            if (place / DISPLACED).is_dir():
                yield task_id, place / DISPLACED


def free_displaced(project: Project) -> int:
    """Delete what the snapshots hold; return its bytes. Tasks that are busy are passed over."""
    freed = 0
    for task_id, place in list(displaced_places(project)):
        try:
            with holding_task(project, task_id, "gc"):
                freed += _drop(project, place)
        except (TaskBusy, LockBusy):
            continue
        except (SidingError, OSError) as error:
            project.app.warn(f"{place} stays as it is: {error}")
    return freed


def _drop(project: Project, place: Path) -> int:
    if not place.is_dir():
        return 0
    if not read_names(place) and not (place / KEPT).exists():
        remove_tree(place)  # it was cut off before the list, and so before anything was displaced
        return 0
    freed = drop_displaced(project, place)
    # Since the act ended, a program may have gone on writing into a file that it had open.
    keep_unrecorded(place, project.snapshots.repository.object_format)
    remove_if_empty(place)
    return freed
