"""The agents of a run as rows of a page: mark, words, and where the work of each can be seen."""

from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.workflows.acts.views import AgentState, RunState, RunStatus

STATUS_TONES = {
    RunStatus.RUNNING: "live",
    RunStatus.COMPLETED: "good",
    RunStatus.FAILED: "bad",
    RunStatus.KILLED: "warn",
    RunStatus.INTERRUPTED: "warn",
}
_MARKS = {"live": "●", "good": "✓", "bad": "✗", "left": "-"}


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
