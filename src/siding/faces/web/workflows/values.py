"""The values that the templates of a run get: agents as rows and as bars, and parts of the page.

In the timeline a lane holds agents that worked one after the other, so a phase is as high as its
agents were many at once. A bar is as thick as its agent used much. The scale of the thickness is
fixed, and so is the lane of a bar: when an agent goes on, its own bar changes and no other one
does.
"""

import math
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any

from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.workflows.acts.views import (
    AgentState,
    RunState,
    RunStatus,
    format_dollars,
    format_duration,
    format_token_count,
    phases_of,
    way_on,
)

STATUS_TONES = {
    RunStatus.RUNNING: "live",
    RunStatus.COMPLETED: "good",
    RunStatus.FAILED: "bad",
    RunStatus.KILLED: "warn",
    RunStatus.INTERRUPTED: "warn",
}
_MARKS = {"live": "●", "good": "✓", "bad": "✗", "left": "-"}
LANE = 12  # pixels
_UNIT_MS = 100
_THINNEST, _THICKEST = 3, 10  # pixels
# From the least to the most that the thickness tells apart, by powers of ten.
_SCALES = {"tokens": (2, 6), "dollars": (-3, 1)}
SHOWN = 100  # agents of a phase above "show all"
WEIGHTS = ("tokens", "dollars")  # what the thickness of a bar shows
ONLY = ("all", "running", "failed")


class AgentRow(NamedTuple):
    """One agent as it is shown. Links are "" where there is nothing to see yet."""

    agent: AgentState
    tone: str  # live, good, bad, left
    mark: str
    word: str  # running, text, object, skipped, or why it failed
    took_ms: int
    page: str
    step: str
    step_name: str
    diff: str


def agent_row(agent: AgentState, state: RunState) -> AgentRow:
    """Return the row of an agent."""
    tone, word = _tone_and_word(agent, state)
    work = agent.work
    task, name = work.task or state.task, work.step.lstrip("0") or work.run
    step = f"/tasks/{task}/steps/{name}" if task and name else ""
    end = agent.ended_at or (state.updated_at if agent.status == "running" else 0)
    return AgentRow(
        agent=agent,
        tone=tone,
        mark=_MARKS[tone],
        word=word,
        took_ms=max(0, end - agent.started_at) if end and agent.started_at else 0,
        page=f"/workflows/{state.run_id}/agents/{agent.id}",
        step=step,
        step_name=work.step or work.run,
        diff=f"{step}#patch" if step and work.step else "",
    )


def phase_key(title: str) -> str:
    """Return a name for the elements of a phase: its title may have any characters."""
    return sha256_hex(title.encode("utf-8", "replace"))[:10]


def _tone_and_word(agent: AgentState, state: RunState) -> tuple[str, str]:
    if agent.status == "running":
        if state.status is RunStatus.RUNNING:
            return "live", "running"
        return "bad", "cut off"
    if agent.result == "ok":
        return "good", f"{agent.shape or 'done'}{' (recorded)' if agent.is_replayed else ''}"
    if agent.result == "skipped":
        return "left", "skipped"
    return "bad", agent.reason or "failed"


class Bar(NamedTuple):
    """The bar of one agent, in pixels downwards and in tenths of a second to the right."""

    id: int
    x: int
    width: int
    y: float
    height: float
    tone: str
    said: str  # what it shows, in words


class PhaseBars(NamedTuple):
    """The bars of one phase, and how high they are together."""

    title: str
    key: str
    bars: tuple[Bar, ...]
    height: int


class Timeline(NamedTuple):
    """The bars of a run; `span` is its width in tenths of a second."""

    phases: tuple[PhaseBars, ...]
    span: int
    ticks: tuple[str, ...]
    by: str

    @property
    def shape(self) -> tuple[tuple[str, int], ...]:
        """What makes the page draw all of it anew: its phases, and the height of each."""
        return tuple((each.title, each.height) for each in self.phases)


def timeline(state: RunState, titles: Iterable[tuple[str, str]], by: str) -> Timeline | None:
    """Return the timeline by "tokens" or "dollars"; None if no agent has begun.

    `titles` are the phases in their order, each with the key of its elements.
    """
    timed = [agent for agent in state.agents if agent.started_at]
    if not timed:
        return None
    begin = min(agent.started_at for agent in timed)
    end = max(_end_of(agent, state) for agent in timed)
    span = max(1, (end - begin) // _UNIT_MS)
    phases = []
    for title, key in titles:
        agents = [agent for agent in timed if agent.phase == title]
        if agents:
            lanes, count = _lanes(agents)
            bars = tuple(
                _bar(agent, state, lane, begin, by)
                for agent, lane in zip(agents, lanes, strict=True)
            )
            phases.append(PhaseBars(title=title, key=key, bars=bars, height=count * LANE))
    ticks = tuple(format_duration((end - begin) * part // 4) for part in range(5))
    return Timeline(phases=tuple(phases), span=span, ticks=ticks, by=by)


def _lanes(agents: list[AgentState]) -> tuple[list[int], int]:
    """Return the lane of each agent: the lowest one that was free when it began; and their number.

    An agent that is at work keeps its lane, so a later look finds the others in the same lanes.
    """
    order = sorted(range(len(agents)), key=lambda at: (agents[at].started_at, agents[at].id))
    busy: list[tuple[float, int]] = []  # until when, which lane
    free: list[int] = []
    lanes, count = [0] * len(agents), 0
    for at in order:
        agent = agents[at]
        while busy and busy[0][0] <= agent.started_at:
            heappush(free, heappop(busy)[1])
        if free:
            lane = heappop(free)
        else:
            lane, count = count, count + 1
        lanes[at] = lane
        until = agent.ended_at if agent.status == "done" else math.inf
        heappush(busy, (until, lane))
    return lanes, count


def _bar(agent: AgentState, state: RunState, lane: int, begin: int, by: str) -> Bar:
    end = _end_of(agent, state)
    height = _thickness(agent, by)
    row = agent_row(agent, state)
    used = f"{format_token_count(agent.used.tokens)} tokens"
    if agent.used.dollars is not None:
        used += f", {format_dollars(agent.used.dollars)}"
    return Bar(
        id=agent.id,
        x=(agent.started_at - begin) // _UNIT_MS,
        width=max(1, (end - agent.started_at) // _UNIT_MS),
        y=round(lane * LANE + (LANE - height) / 2, 1),
        height=height,
        tone=row.tone,
        said=f"{agent.name}: {row.word}, {format_duration(end - agent.started_at)}, {used}",
    )


def _thickness(agent: AgentState, by: str) -> float:
    used = agent.used
    amount = (used.dollars or 0.0) if by == "dollars" else float(used.tokens)
    if amount <= 0:
        return _THINNEST
    low, high = _SCALES[by]
    share = (math.log10(amount) - low) / (high - low)
    return round(_THINNEST + (_THICKEST - _THINNEST) * max(0.0, min(1.0, share)), 1)


def _end_of(agent: AgentState, state: RunState) -> int:
    """Return when an agent ended; of one at work, when the state was written."""
    return max(agent.ended_at or state.updated_at, agent.started_at)


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
