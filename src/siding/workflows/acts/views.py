"""Workflows and their runs as front ends show them."""

from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.workflows.acts.finding import FoundScript, Origin, listed, predecessors
from siding.workflows.acts.running import folders
from siding.workflows.acts.trusting import is_trusted
from siding.workflows.display import (
    PhaseRow,
    format_dollars,
    format_duration,
    format_token_count,
    merge_phases,
)
from siding.workflows.errors import ScriptError, WorkflowNotFound
from siding.workflows.events import (
    AgentDone,
    AgentProgress,
    AgentRetry,
    AgentStarted,
    Asked,
    Event,
    Logged,
    PhaseDone,
    PhaseStarted,
    Resumable,
    RunDone,
    RunStarted,
)
from siding.workflows.names import is_run_id
from siding.workflows.outcome import Dead, Done, Skipped
from siding.workflows.problems import Problem
from siding.workflows.state import AgentState, RunState, RunStatus
from siding.workflows.store import RunFolder, RunRecord
from siding.workflows.summary import RunSummary, summary_of

__all__ = [
    "AgentDone",
    "AgentProgress",
    "AgentRetry",
    "AgentStarted",
    "AgentState",
    "Asked",
    "Dead",
    "Done",
    "Event",
    "FoundScript",
    "Logged",
    "Origin",
    "PhaseDone",
    "PhaseRow",
    "PhaseStarted",
    "Problem",
    "Resumable",
    "RunDone",
    "RunFolder",
    "RunRecord",
    "RunStarted",
    "RunState",
    "RunStatus",
    "RunSummary",
    "RunView",
    "ScriptError",
    "Skipped",
    "WorkflowView",
    "format_dollars",
    "format_duration",
    "format_token_count",
    "is_run_id",
    "phases_of",
    "run_view",
    "run_views",
    "summary_of",
    "way_on",
    "workflow_views",
]


class WorkflowView(NamedTuple):
    """A workflow that has a name. `problem` says why it cannot be run, "" if it can."""

    name: str
    origin: Origin
    path: str
    description: str = ""
    when_to_use: str = ""
    phases: tuple[str, ...] = ()
    is_trusted: bool = True
    problem: str = ""


class RunView(NamedTuple):
    """A run: what was asked, and its state."""

    folder: RunFolder
    state: RunState
    record: RunRecord | None

    @property
    def can_resume(self) -> bool:
        """Whether the run can come to another end by being resumed as it is."""
        return self.state.can_resume


def workflow_views(project: Project) -> list[WorkflowView]:
    """Return all workflows that have a name, and those of the predecessor, by name."""
    found = [_view(project, each) for each in listed(project)]
    found += [
        WorkflowView(
            name=path.stem,
            origin=Origin.REPOSITORY,
            path=str(path),
            problem=f"it is JavaScript: `siding workflow convert {path}`",
        )
        for path in predecessors(project)
    ]
    return found


def _view(project: Project, found: FoundScript) -> WorkflowView:
    view = WorkflowView(
        name=found.name,
        origin=found.origin,
        path=found.path,
        is_trusted=is_trusted(project, found),
    )
    try:
        meta = found.script().meta
    except ScriptError as error:
        return view._replace(problem=error.message)
    if meta is None:
        return view
    return view._replace(
        description=meta.description,
        when_to_use=meta.when_to_use,
        phases=tuple(phase.title for phase in meta.phases),
    )


def run_views(project: Project, *, limit: int = 0) -> list[RunView]:
    """Return the runs, the one that changed last first; at most `limit` if that is not 0."""
    found = []
    for folder, state in folders(project).states():
        found.append(_with_record(folder, state))
        if len(found) == limit:
            break
    return found


def run_view(project: Project, named: str) -> RunView:
    """Return a run by its id, the beginning of one, or "last". Raises WorkflowNotFound."""
    folder = folders(project).find(named)
    state = folder.known_state()
    if state is None:
        raise WorkflowNotFound(f"there is no run {named!r}")
    return _with_record(folder, state)


def phases_of(state: RunState) -> list[PhaseRow]:
    """Return the phases of a run: as declared, as opened, then those that only agents name."""
    agents = ((agent.phase, agent.status) for agent in state.agents)
    return merge_phases(state.declared, state.phases, agents)


def _with_record(folder: RunFolder, state: RunState) -> RunView:
    try:
        record = folder.record()
    except SidingError:
        record = None
    return RunView(folder=folder, state=state, record=record)


def way_on(state: RunState) -> str:
    """Return what can be done with a run that has not come to its end; "" if there is nothing."""
    if state.can_resume:
        return f"`siding workflow resume {state.run_id}` goes on from its record"
    if state.resumable is Resumable.REPEATS:
        return (
            "resumed as it is, it fails again: mend the script, and `siding workflow resume "
            f"{state.run_id} --script FILE` takes what is recorded; `--anew` asks for all again"
        )
    if state.resumable is Resumable.IS_EMPTY:
        return (
            "nothing is recorded that a resume could go on from: mend the script or its arguments, "
            "and run it again (`siding workflow run --help` says how arguments are given)"
        )
    return ""
