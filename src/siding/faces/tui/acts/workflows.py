"""What is done from the terminal to a run of a workflow."""

from siding.record.place.project import Project
from siding.workflows.acts.from_dashboard import RunAct, do_act
from siding.workflows.acts.retention import remove_run
from siding.workflows.acts.views import run_view


def resume(project: Project, run_id: str) -> str:
    """Go on with a run, in the background."""
    do_act(project, run_view(project, run_id), RunAct.RESUME, None)
    return "it goes on in the background"


def kill(project: Project, run_id: str) -> str:
    """End a run."""
    do_act(project, run_view(project, run_id), RunAct.KILL, None)
    return "ended, with everything it started"


def put_away(project: Project, run_id: str) -> str:
    """Put a run into the project's trash."""
    return f"the run is in the trash: {remove_run(project, run_id)}"
