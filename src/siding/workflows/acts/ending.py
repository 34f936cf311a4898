"""End the runs of workflows of a task, and wait until they are over."""

import time

from siding.ground.errors import SidingError
from siding.record.place.project import Project
from siding.record.unfinished.live_workflows import LiveWorkflow, live_workflows
from siding.workflows.acts.control import request
from siding.workflows.errors import RunNotAnswering, WorkflowNotFound
from siding.workflows.store import RunFolders

_PATIENCE_S = 60.0  # each agent gets some seconds to end what it began
_LOOK_S = 0.05


class NotEnded(SidingError):
    """A run of a workflow does not end."""

    code = "workflow_not_ended"


def end_workflows(project: Project, task_id: str) -> list[LiveWorkflow]:
    """End the workflows that run in a task; return them. Raises NotEnded."""
    ended = list(live_workflows(project, task_id))
    runs = RunFolders(project.layout.workflow_runs_dir)
    for each in ended:
        folder = runs.find(each.run_id)
        until = time.monotonic() + _PATIENCE_S
        while folder.is_live():
            try:
                request(folder, "kill")
            except (WorkflowNotFound, RunNotAnswering, OSError):
                pass  # it does not listen yet, or no more, or is stopped
            if time.monotonic() > until:
                raise NotEnded(
                    f"the workflow {each.name!r} ({each.run_id}) does not end",
                    hint=f"`siding workflow show {each.run_id}` shows what it is at",
                )
            time.sleep(_LOOK_S)
    return ended
