"""Workflows, their runs and how a race came out, as front ends show them."""

from collections.abc import Mapping
from typing import Any

from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, text, whole
from siding.record.place.project import Project
from siding.workflows.acts.scripts import (
    FoundScript,
    Origin,
    arguments_in,
    listed,
    named,
    predecessors,
)
from siding.workflows.acts.trust import is_trusted
from siding.workflows.display import (
    PhaseRow,
    RunSummary,
    format_dollars,
    format_duration,
    format_token_count,
    merge_phases,
    summary_of,
)
from siding.workflows.errors import Problem, ScriptError, WorkflowNotFound
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
from siding.workflows.outcome import Dead, Done, Skipped
from siding.workflows.state import AgentState, RunState, RunStatus
from siding.workflows.store import RunFolder, RunFolders, RunRecord, is_run_id

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
CHOICES = ("smallest", "judge", "ask", "none")


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


def arguments_read(project: Project, name: str) -> tuple[str, ...]:
    """Return the names of the arguments that a workflow's script reads, in the order of its text.

    They are the texts by which it looks something up in `args`, or in a name that stands for it.
    Raises WorkflowNotFound, ScriptError.
    """
    return arguments_in(named(project, name).source)


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
    for folder, state in RunFolders.of(project).states():
        found.append(_with_record(folder, state))
        if len(found) == limit:
            break
    return found


def run_view(project: Project, named: str) -> RunView:
    """Return a run by its id, the beginning of one, or "last". Raises WorkflowNotFound."""
    folder = RunFolders.of(project).find(named)
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


class Entrant(NamedTuple):
    """One agent of a race. `passed` is None if nothing was checked."""

    agent: str
    fork: str
    passed: bool | None
    files: int
    additions: int
    deletions: int


class RaceResult(NamedTuple):
    """How a race came out; `winner` is "" if nothing was brought back."""

    winner: str
    why: str
    step: str
    entrants: tuple[Entrant, ...]


def race_result(value: Mapping[str, Any]) -> RaceResult:
    """Read what the script returned."""
    return RaceResult(
        winner="" if value.get("conflicts") else text(value.get("winner")),
        why=text(value.get("why")),
        step=text(value.get("step")),
        entrants=tuple(map(_entrant, mappings(value.get("entries")))),
    )


def _entrant(entry: Mapping[str, Any]) -> Entrant:
    changed, passed = mapping(entry.get("changed")), entry.get("passed")
    return Entrant(
        agent=text(entry.get("agent")),
        fork=text(entry.get("fork")),
        passed=passed if isinstance(passed, bool) else None,
        files=whole(changed.get("files")),
        additions=whole(changed.get("additions")),
        deletions=whole(changed.get("deletions")),
    )
