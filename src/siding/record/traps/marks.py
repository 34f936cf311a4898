"""Mark the tasks that have had a sandboxed run: what is in their workspaces may be its.

Which change is whose cannot be told: a run that goes on writes into the steps of others, and one
without a step into the next. So it is the task that is marked, before the command starts.
"""

from siding.ground.files.regular import read_small
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.fields import text
from siding.record.place.project import Project

MARK_VERSION = 1


class SandboxedMark(NamedTuple):
    """Since when the task is marked.

    `reference` is the snapshot with which its workspace is compared, "" for the base of the task: a
    fork begins with files that were left in the task that it was made from.
    """

    since: str
    reference: str = ""


def may_hold(project: Project, task_id: TaskId) -> bool:
    """Tell, at the price of two small files, whether traps of a task can be held at all."""
    if project.task_layout(task_id).sandboxed_json.exists():
        return True
    paths = (project.app.home.config_path, project.layout.config_yaml)
    return any(b"traps" in (read_small(path) or b"") for path in paths)


def mark_of(project: Project, task_id: TaskId) -> SandboxedMark | None:
    """Return the mark of a task; None if it has had no sandboxed run."""
    path = project.task_layout(task_id).sandboxed_json
    found = read_document_or_none(path, what="that a task was sandboxed", version=MARK_VERSION)
    if found is None:
        return None
    return SandboxedMark(text(found.get("since")), text(found.get("reference")))


def mark_sandboxed(project: Project, task_id: TaskId, reference: str = "") -> None:
    """Mark a task, unless it is marked already."""
    path = project.task_layout(task_id).sandboxed_json
    if not path.exists():
        mark = SandboxedMark(project.app.now(), reference)
        write_document(path, {"version": MARK_VERSION, **mark._asdict()})


def carry_mark(project: Project, giver: TaskId, taker: TaskId, reference: Sha | str = "") -> None:
    """Mark a task that gets files of another one, if that one is marked."""
    found = mark_of(project, giver)
    if found is None:
        return
    mark_sandboxed(project, taker, found.reference or reference)
    if project.task_layout(giver).traps_json.exists():
        from siding.record.traps.left import carry  # 5 ms

        carry(project, giver, taker)
