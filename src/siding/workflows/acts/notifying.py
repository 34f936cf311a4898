"""Tell the person that a run of a workflow has ended that nobody watched, or that took long."""

from siding.asking.entries import Waits
from siding.asking.notifications import notify
from siding.ground.errors import SidingError
from siding.record.place.project import Project
from siding.workflows.acts.entry import workflow_entry
from siding.workflows.acts.running import folders
from siding.workflows.state import RunStatus
from siding.workflows.summary import summary_of

LONG_MS = 60_000  # whoever began a shorter run in a terminal still looks at it


def tell_ended(project: Project, run_id: str, *, detached: bool) -> None:
    """Call the person in the ways that are set. Raises nothing: the run has ended either way."""
    try:
        state = folders(project).find(run_id).state()
        if state is None or state.status not in (RunStatus.COMPLETED, RunStatus.FAILED):
            return  # whoever killed it knows
        run = summary_of(state)
        if not detached and run.took_ms < LONG_MS:
            return
        names: dict[str, str] = {task.id: task.name for task in project.tasks.readable()}
        kind = Waits.WORKFLOW if run.has_failed else Waits.DONE
        failed = notify(project, workflow_entry(project, names.get(run.task, ""), run, kind))
    except (SidingError, OSError) as error:
        project.app.warn(f"nobody was told that the run has ended: {error}")
        return
    for hook in failed:
        project.app.warn(f"notify hook {hook.command!r} ended with {hook.exit_code}: {hook.output}")
