"""The values that the templates of a run get: for the whole page, and for parts of it."""

from typing import Any

from siding.faces.web.workflows.agents import (
    STATUS_TONES,
    AgentRow,
    Timeline,
    agent_row,
    phase_key,
    timeline,
)
from siding.ground.namedtuples import NamedTuple
from siding.workflows.acts.views import AgentState, RunState, phases_of, way_on

SHOWN = 100  # agents of a phase above "show all"
WEIGHTS = ("tokens", "dollars")  # what the thickness of a bar shows
ONLY = ("all", "running", "failed")


class PhaseShown(NamedTuple):
    """A phase as it is shown, with the rows of its agents that are on the page."""

    title: str
    key: str
    status: str
    done: int
    total: int
    rows: tuple[AgentRow, ...] = ()
    hidden: int = 0


class RunQuery(NamedTuple):
    """What a person has chosen on the page of a run."""

    only: str = "all"
    by: str = "tokens"
    shown: int = SHOWN

    def link(self, run_id: str, **changed: Any) -> str:
        """Return the address of the page with something else chosen."""
        new, usual = self._replace(**changed), RunQuery()
        words = [
            f"{name}={value}"
            for name, value in new._asdict().items()
            if value != getattr(usual, name)
        ]
        return f"/workflows/{run_id}" + (f"?{'&'.join(words)}" if words else "")


def run_values(state: RunState, query: RunQuery, now_ms: int) -> dict[str, Any]:
    """Return the values of the page of a run; its rows are in `phases`."""
    phases = [_with_rows(state, phase, query) for phase in phases_shown(state)]
    return {
        **head_values(state, query),
        "phases": phases,
        "timeline": timeline_of(state, query.by, now_ms),
    }


def head_values(state: RunState, query: RunQuery) -> dict[str, Any]:
    """Return the values of what is said of the run as a whole."""
    return {
        "run": state,
        "query": query,
        "tone": STATUS_TONES[state.status],
        "is_live": state.status == "running",
        "can_resume": state.can_resume,
        "way_on": way_on(state),
        "took_ms": max(0, state.updated_at - state.started_at) if state.started_at else 0,
        "done": state.counted("done"),
        "running": state.counted("running"),
        "failed": sum(agent.result == "dead" for agent in state.agents),
        "input_tokens": sum(agent.used.input_tokens for agent in state.agents),
    }


def phases_shown(state: RunState) -> list[PhaseShown]:
    """Return the phases of a run without rows; agents without a phase come last."""
    phases = [
        PhaseShown(each.title, phase_key(each.title), each.status, each.done, each.total)
        for each in phases_of(state)
    ]
    loose = [agent for agent in state.agents if not agent.phase]
    if loose:
        done = sum(agent.status == "done" for agent in loose)
        status = "done" if done == len(loose) else "running"
        phases.append(PhaseShown("", phase_key(""), status, done, len(loose)))
    return phases


def timeline_of(state: RunState, by: str, now_ms: int) -> Timeline | None:
    """Return the timeline of a run; what is at work reaches to the present moment."""
    if state.status == "running":
        state = state._replace(updated_at=max(state.updated_at, now_ms))
    titles = [(phase.title, phase.key) for phase in phases_shown(state)]
    return timeline(state, titles, by)


def _with_rows(state: RunState, phase: PhaseShown, query: RunQuery) -> PhaseShown:
    agents = [each for each in state.agents if each.phase == phase.title and _is_in(each, query)]
    chosen = agents
    if len(agents) > query.shown:  # those at work are never left out
        working = [each for each in agents if each.status == "running"]
        others = [each for each in agents if each.status != "running"]
        chosen = [*working, *others[: max(0, query.shown - len(working))]]
        chosen.sort(key=lambda each: each.id)
    rows = tuple(agent_row(each, state) for each in chosen)
    return phase._replace(rows=rows, hidden=len(agents) - len(rows))


def _is_in(agent: AgentState, query: RunQuery) -> bool:
    match query.only:
        case "running":
            return agent.status == "running"
        case "failed":
            return agent.result == "dead"
    return True
