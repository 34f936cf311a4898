"""A run in a few figures, for lists of runs: without its agents, its value and its messages."""

from siding.ground.namedtuples import NamedTuple
from siding.workflows.state import RunState, RunStatus


class RunSummary(NamedTuple):
    """One run. Times are in milliseconds since 1970, 0 if unknown."""

    run_id: str
    name: str
    status: RunStatus
    task: str
    description: str = ""
    phase: str = ""  # the one that is open
    done: int = 0
    total: int = 0
    dead: int = 0
    tokens: int = 0
    dollars: float | None = None
    error: str = ""
    waits: tuple[str, ...] = ()
    started_at: int = 0
    updated_at: int = 0
    can_resume: bool = False  # as it is, and it can come to another end

    @property
    def is_live(self) -> bool:
        """Whether a process works on the run."""
        return self.status is RunStatus.RUNNING

    @property
    def has_failed(self) -> bool:
        """Whether the script failed."""
        return self.status is RunStatus.FAILED

    @property
    def took_ms(self) -> int:
        """How long it has taken so far."""
        return max(0, self.updated_at - self.started_at) if self.started_at else 0

    @property
    def progress(self) -> str:
        """How far it is: ``3/12 agents``, and the phase that is open."""
        agents = f"{self.done}/{self.total} agent{'' if self.total == 1 else 's'}"
        return f"{agents} · {self.phase}" if self.phase else agents


def summary_of(state: RunState) -> RunSummary:
    """Return the figures of a run."""
    return RunSummary(
        run_id=state.run_id,
        name=state.name,
        status=state.status,
        task=state.task,
        description=state.description,
        phase=state.current,
        done=state.counted("done"),
        total=len(state.agents),
        dead=sum(agent.result == "dead" for agent in state.agents),
        tokens=state.tokens,
        dollars=state.dollars,
        error=state.error,
        waits=state.waits,
        started_at=state.started_at,
        updated_at=state.updated_at,
        can_resume=state.can_resume,
    )
