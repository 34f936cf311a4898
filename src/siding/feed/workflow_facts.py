"""What a row needs to know of a run of a workflow, without what workflows load."""

from siding.asking.views import InboxEntry
from siding.ground.namedtuples import NamedTuple

DAY_S = 86_400


class AgentFacts(NamedTuple):
    """An agent of a run that is at work, or has died. Times are ISO 8601, "" if unknown."""

    id: str
    name: str
    says: str
    since: str
    agent: str
    is_dead: bool
    retries: int


class WorkflowFacts(NamedTuple):
    """A run of a workflow. `stopped` is its entry if it failed or was interrupted, and nobody has
    gone on from it."""

    id: str
    name: str
    task: str
    is_live: bool
    progress: str
    phase: str
    waits: tuple[str, ...]  # questions to a person that are open
    status: str
    started_at: str
    updated_at: str
    ended: float  # when it changed last, in seconds since 1970
    stopped: InboxEntry | None = None
    agents: tuple[AgentFacts, ...] = ()
    forks: tuple[str, ...] = ()  # the ids of the tasks that its agents work in
