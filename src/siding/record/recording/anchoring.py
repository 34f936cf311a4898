"""Find the anchor of a task's ledger, and note in it that the task gets another base."""

from pathlib import Path

from siding.ground.ids import Sha, TaskId
from siding.record.ledger.anchor import AnchorKeeper, TaskIdentity, announce_change
from siding.record.place.project import Project
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task, document_of


def anchor_path(project: Project, task_id: TaskId) -> Path:
    """Return where the anchor of a task's ledger is, whether it is there or not."""
    return project.snapshots.task(task_id).ledger_head


def task_identity(task: Task) -> TaskIdentity:
    """Return what the record binds of a task."""
    return TaskIdentity.from_record(document_of(task))


def anchor_keeper(project: Project, task: Task) -> AnchorKeeper:
    """Return what keeps the anchor of the task's ledger. The caller holds the task's lock."""
    return AnchorKeeper(
        anchor_path(project, task.id),
        project.task_layout(task.id).ledger_jsonl,
        task=lambda: task_identity(project.tasks.load(task.id)),
        say=lambda sentence: project.app.warn(f"task {task.id}: {sentence}"),
    )


def announce_base(project: Project, made: Workspace, base_ref: str) -> None:
    """Note beside the anchor that a task is about to get the base and branch of this workspace.

    The caller holds the task's lock, and writes the registry and the task after this. The next line
    of the ledger says which base it is.
    """
    task = project.tasks.load(made.task_id)
    coming = task._replace(base_ref=base_ref, base_commit=Sha(made.base_commit), branch=made.branch)
    announce_change(anchor_path(project, task.id), task_identity(coming))
