"""The runs of workflows in a project, in a few figures: all, those at work, those that stopped.

The state of a run may have a thousand agents in it, so it is read again only when it has changed.
"""

from collections.abc import Iterable, Mapping

from siding.asking.views import moment_iso
from siding.feed.moments import moment_of
from siding.feed.workflow_facts import DAY_S, AgentFacts, WorkflowFacts
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.workflows.display import RunSummary, summary_of, workflow_entry
from siding.workflows.state import AgentState, RunState, RunStatus
from siding.workflows.store import RunFolder, RunFolders, RunRecord

_RECORDED_WITHIN_S = 2.0  # a step is recorded a moment after the run that it is part of has ended
_STOPPED = (RunStatus.FAILED, RunStatus.INTERRUPTED)


class OpenTask(NamedTuple):
    """What decides whether a run that stopped still waits for a person."""

    name: str
    last_at: str  # when the last step ended


class RunSummaries:
    """The figures of all runs of a project, kept until their states change."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], RunSummary]] = {}

    def all(self, project: Project) -> list[RunSummary]:
        """Return the runs: those at work first, the newest first; then as they changed last."""
        found = []
        for folder in run_folders(project).all():
            summary = self._of(folder)
            if summary is not None:
                found.append(summary)
        self._known = {each.run_id: self._known[each.run_id] for each in found}
        return sorted(found, key=_order)

    def _of(self, folder: RunFolder) -> RunSummary | None:
        stamp = folder.state_stamp()
        kept = self._known.get(folder.run_id)
        if kept is not None and kept[0] == stamp and _stands(folder, kept[1]):
            return kept[1]
        state = folder.known_state()
        if state is None:
            return None
        self._known[folder.run_id] = (stamp, summary_of(state))
        return self._known[folder.run_id][1]


class WorkflowRuns:
    """The runs of the workflows of a project, kept until their files change."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.watched: set[str] = set()  # the runs whose files matter; the others are long over
        self._records: dict[str, RunRecord] = {}
        self._states: dict[str, tuple[tuple[int, ...], RunState]] = {}

    def look(self, tasks: Mapping[str, OpenTask], now: float) -> list[WorkflowFacts]:
        """Return the runs. `tasks` are those that are open."""
        folders = {each.run_id: each for each in run_folders(self.project).all()}
        self._records = {each: it for each, it in self._records.items() if each in folders}
        self._states = {each: it for each, it in self._states.items() if each in folders}
        newest = self._newest(folders.values(), tasks)
        found, self.watched = [], set[str]()
        for run_id, folder in folders.items():
            stamp = folder.state_stamp()
            is_recent = now - stamp[0] / 1e9 < DAY_S or not stamp[1]
            if not (run_id in newest or is_recent or folder.is_live()):
                continue
            self.watched.add(run_id)
            state = self._state(folder, stamp)
            if state is None:
                continue
            facts = _facts(self.project, state, tasks, is_newest=run_id in newest)
            if facts.stopped or facts.is_live or now - facts.ended < DAY_S:
                found.append(facts)
        return sorted(found, key=lambda each: (each.started_at, each.id))

    def living(self) -> set[int]:
        """Return the processes that work on runs."""
        holders = [
            RunFolder(self.project.layout.workflow_runs_dir / each).lock().holder()
            for each, (_stamp, state) in self._states.items()
            if state.status is RunStatus.RUNNING
        ]
        return {each.pid for each in holders if each is not None}

    def _newest(self, folders: Iterable[RunFolder], tasks: Mapping[str, OpenTask]) -> set[str]:
        """Return the newest run of each workflow in each open task."""
        newest: dict[tuple[str, str], tuple[str, str]] = {}
        for folder in folders:
            record = self._record(folder)
            if record is None or record.task not in tasks:
                continue
            key, this = (record.task, record.name), (record.created_at, folder.run_id)
            newest[key] = max(newest.get(key, this), this)
        return {run_id for _at, run_id in newest.values()}

    def _record(self, folder: RunFolder) -> RunRecord | None:
        if folder.run_id not in self._records:
            try:
                self._records[folder.run_id] = folder.record()
            except SidingError:
                return None
        return self._records[folder.run_id]

    def _state(self, folder: RunFolder, stamp: tuple[int, int]) -> RunState | None:
        known = self._states.get(folder.run_id)
        whole = (*stamp, folder.is_live())  # of a run that has not ended its lock decides
        if known is None or known[0] != whole:
            state = folder.known_state()
            if state is None:
                return None
            known = self._states[folder.run_id] = (whole, state)
        return known[1]


def _facts(
    project: Project, state: RunState, tasks: Mapping[str, OpenTask], *, is_newest: bool
) -> WorkflowFacts:
    run, task = summary_of(state), tasks.get(state.task)
    stopped = None
    if task is not None and is_newest and state.status in _STOPPED:
        later = moment_of(task.last_at) - run.updated_at / 1000
        # A later step of the task says that somebody went on from a run that failed.
        if not (run.has_failed and later > _RECORDED_WITHIN_S):
            stopped = workflow_entry(project, task.name, run)
    shown = [each for each in state.agents if each.status == "running" or each.result == "dead"]
    return WorkflowFacts(
        id=run.run_id,
        name=run.name,
        task=run.task,
        is_live=run.is_live,
        progress=run.progress,
        phase=run.phase,
        waits=run.waits,
        status=str(run.status),
        started_at=moment_iso(run.started_at),
        updated_at=moment_iso(run.updated_at),
        ended=run.updated_at / 1000,
        stopped=stopped,
        agents=tuple(map(_agent, shown)) if run.is_live else (),
        forks=tuple(each.work.fork for each in state.agents if each.work.fork),
    )


def _agent(agent: AgentState) -> AgentFacts:
    is_dead = agent.status != "running"
    return AgentFacts(
        id=str(agent.id),
        name=agent.name,
        says=agent.detail or agent.reason if is_dead else agent.says or agent.prompt,
        since=moment_iso(agent.ended_at if is_dead else agent.started_at),
        agent=agent.agent_type,
        is_dead=is_dead,
        retries=agent.retries,
    )


def run_folders(project: Project) -> RunFolders:
    """Return the runs of a project's workflows."""
    return RunFolders(project.layout.workflow_runs_dir)


def live_folders(project: Project) -> list[RunFolder]:
    """Return the runs that a process works on: their locks are held."""
    return [folder for folder in run_folders(project).all() if folder.is_live()]


def live_runs(project: Project, task: str = "") -> list[RunSummary]:
    """Return the runs that a process works on, of one task or of all, oldest first.

    Whether one is at work says its lock, so the states of the others are not read.
    """
    states = [folder.known_state() for folder in live_folders(project)]
    found = [summary_of(state) for state in states if state is not None and not state.is_over]
    chosen = [each for each in found if task in ("", each.task)]
    return sorted(chosen, key=lambda each: each.started_at)


def _stands(folder: RunFolder, summary: RunSummary) -> bool:
    """Tell whether a summary says what is so: of a run that has not ended its lock decides."""
    if summary.status in (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.KILLED):
        return True
    return folder.is_live() == summary.is_live


def _order(run: RunSummary) -> tuple[bool, int]:
    return (not run.is_live, -(run.started_at if run.is_live else run.updated_at))
