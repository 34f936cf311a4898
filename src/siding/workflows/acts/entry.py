"""What waits for a person of a run of a workflow."""

from typing import TYPE_CHECKING

from siding.asking.entries import InboxEntry, Waits, entry, moment_iso
from siding.record.place.project import Project

if TYPE_CHECKING:
    from siding.workflows.summary import RunSummary


def workflow_entry(
    project: Project, task_name: str, run: "RunSummary", kind: Waits = Waits.WORKFLOW
) -> InboxEntry:
    """Return the entry of a run of a workflow: one that stopped, or one that is told to be done."""
    go_on = "resume" if run.can_resume else "show"
    return entry(
        project,
        kind=kind,
        title=f"{run.name} {run.status}: {run.error or run.progress}",
        detail=run.progress,
        since=moment_iso(run.updated_at),
        command=f"siding workflow {go_on} {run.run_id}",
        page=f"/workflows/{run.run_id}",
        task_id=run.task,
        task_name=task_name,
    )
