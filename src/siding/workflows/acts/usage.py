"""Which run of a workflow a call was made in, and what runs used of which no transcript tells.

A call belongs to the run whose agent has its conversation, or whose agent's step is the one that
the call was made in. Where a client keeps no transcript of an agent, what its run has counted of
it stands in for the calls.
"""

from collections.abc import Iterable, Iterator

from siding.agents.transcripts.counting import UNKNOWN_MODEL, Tokens
from siding.agents.transcripts.spending import Spent
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.usage.report import NOWHERE, CountedByRun, WorkflowUsage, run_names
from siding.workflows.outcome import Used
from siding.workflows.state import AgentState, RunState
from siding.workflows.store import RunFolders

_SLACK_MS = 2_000  # a client writes its last line a little after it was told to end


class _Place(NamedTuple):
    """An agent of a run, and when it worked there: a conversation may have gone on elsewhere."""

    run: str
    agent: tuple[str, int]
    began: int
    ended: int

    def has(self, at: int) -> bool:
        return self.began - _SLACK_MS <= at <= self.ended + _SLACK_MS


def workflow_usage(project: Project, spent: Iterable[Spent]) -> WorkflowUsage:
    """Return what the runs of a project's workflows used."""
    runs = [state for _folder, state in RunFolders.of(project).states()]
    sessions, steps = _places(project, runs)
    step_of = run_names(project)
    calls, seen = [], set()
    for each in spent:
        places = sessions.get(each.session) or (steps.get(step_of(each), []) if steps else [])
        place = next((one for one in places if one.has(each.call.at)), None)
        if place is not None:
            calls.append((place.run, each))
            seen.add(place.agent)
    counted = [
        _counted(state, agent)
        for state in runs
        for agent in state.agents
        if (state.run_id, agent.id) not in seen and agent.used != Used()
    ]
    return WorkflowUsage(calls=calls, counted=counted)


def _places(
    project: Project, runs: Iterable[RunState]
) -> tuple[dict[str, list[_Place]], dict[str, list[_Place]]]:
    """Return where agents worked, by their conversations and by their steps."""
    names: dict[str, str] = {task.id: task.name for task in project.tasks.readable()}
    sessions: dict[str, list[_Place]] = {}
    steps: dict[str, list[_Place]] = {}
    for state in runs:
        for agent, place in _agents(state):
            work = agent.work
            if work.session:
                sessions.setdefault(work.session, []).append(place)
            if work.step:
                task = names.get(work.task or state.task, NOWHERE)
                steps.setdefault(f"{task} {work.step}", []).append(place)
    return sessions, steps


def _agents(state: RunState) -> Iterator[tuple[AgentState, _Place]]:
    for agent in state.agents:
        yield (
            agent,
            _Place(
                run=_name(state),
                agent=(state.run_id, agent.id),
                # The times of one that was answered from the record are those of an earlier start.
                began=agent.started_at or state.started_at,
                ended=agent.ended_at or state.updated_at,
            ),
        )


def _counted(state: RunState, agent: AgentState) -> CountedByRun:
    used = agent.used
    return CountedByRun(
        name=_name(state),
        session=agent.work.session,
        at=agent.ended_at or agent.started_at or state.updated_at,
        model=used.model or UNKNOWN_MODEL,
        tokens=Tokens(input=used.input_tokens, output=used.tokens),
        dollars=used.dollars,
    )


def _name(state: RunState) -> str:
    return f"{state.name} {state.run_id}"
