"""What the dashboard does to a run of a workflow: end it, control an agent of it, go on with it."""

from enum import StrEnum

from siding.ground.errors import SidingError
from siding.record.place.project import Project
from siding.running.apart import NotStarted, resume_workflow
from siding.workflows.acts.control import request
from siding.workflows.acts.views import RunStatus, RunView, way_on


class RunAct(StrEnum):
    """What can be done to a run, or to one of its agents."""

    KILL = "kill"
    SKIP = "skip"
    RETRY = "retry"
    RESUME = "resume"


class NothingToDo(SidingError):
    """The run, or the agent, is not in a state in which the act makes sense. Nothing was done."""

    code = "workflow_nothing_to_do"


def refuse_senseless(view: RunView, act: RunAct, agent: int | None) -> None:
    """Raise NothingToDo if an act cannot be done to the run, or to the agent of it, as it is."""
    state = view.state
    if act is RunAct.RESUME:
        if not view.can_resume:
            raise NothingToDo(
                f"the run {state.run_id} is {state.status}: there is nothing to resume"
                if state.status is not RunStatus.FAILED
                else f"the run {state.run_id} would fail again: its script gets the same answers",
                hint=way_on(state) or None,
            )
    elif not view.folder.is_live():
        raise NothingToDo(f"no process works on the run {state.run_id}")
    elif agent is not None:
        found = next((each for each in state.agents if each.id == agent), None)
        if found is None or found.status != "running":
            raise NothingToDo(f"agent #{agent} is not at work")


def do_act(project: Project, view: RunView, act: RunAct, agent: int | None) -> None:
    """Carry an act out. Raises NothingToDo, WorkflowNotFound, and SidingError."""
    refuse_senseless(view, act, agent)
    if act is RunAct.RESUME:
        _resume_detached(project, view.state.run_id)
    elif not request(view.folder, act.value, agent):
        raise NothingToDo("it has ended meanwhile")


def _resume_detached(project: Project, run_id: str) -> None:
    """Go on with a run in a process of its own, which does not end with this one."""
    try:
        resume_workflow(project.app, project.paths.root, run_id)
    except NotStarted as refused:
        hint = f"`siding workflow resume {run_id}` says more"
        raise SidingError(refused.message, hint=hint) from refused
