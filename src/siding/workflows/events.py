"""What happens in a run, for those who watch it. Their names and fields are those of the seed's."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.workflows.outcome import Outcome, Used, Work


class RunStarted(NamedTuple):
    """The script began to run; `resumed` if the run did before."""

    name: str
    meta: Mapping[str, Any] | None
    resumed: bool = False


class PhaseStarted(NamedTuple):
    """A phase was opened."""

    phase: str


class PhaseDone(NamedTuple):
    """The phase that was open was closed."""

    phase: str


class AgentStarted(NamedTuple):
    """An agent has a slot and begins."""

    id: int
    label: str = ""
    phase: str = ""
    prompt: str = ""
    agent_type: str = ""


class AgentProgress(NamedTuple):
    """What an agent has used so far, and where it works."""

    id: int
    used: Used = Used()
    work: Work = Work()
    says: str = ""


class AgentRetry(NamedTuple):
    """An agent gave no result and is run again after a wait; `attempt` 1 is the first retry."""

    id: int
    attempt: int
    limit: int
    reason: str
    detail: str = ""
    delay_ms: int = 0


class AgentDone(NamedTuple):
    """An agent's call is answered: by a run of it, or from the record."""

    id: int
    outcome: Outcome
    label: str = ""
    phase: str = ""
    is_replayed: bool = False
    path: str = ""


class Asked(NamedTuple):
    """A person is asked, or (`is_answered`) has answered."""

    path: str
    question: str
    is_answered: bool = False


class Logged(NamedTuple):
    """The script, or the engine, has something to say."""

    message: str
    is_warning: bool = False


class ResumeSummary(NamedTuple):
    """What of a resumed run came from its record."""

    policy: str
    replayed: int
    live: int
    not_reached: tuple[int, ...] = ()


class Resumable(StrEnum):
    """What comes of resuming a run that failed."""

    CHANGES = ""  # another end: what gave no result is asked again
    REPEATS = "repeats"  # the same end: the script gets the same answers
    IS_EMPTY = "empty"  # the same end, and nothing is recorded that an edited script could take


class RunDone(NamedTuple):
    """The run has ended: completed, failed or killed."""

    status: str
    value: Any = None
    error: str = ""
    line: int = 0  # of the script, where the error arose; 0 is unknown
    kind: str = ""  # of the error
    resume: ResumeSummary | None = None
    resumable: Resumable = Resumable.CHANGES


Event = (
    RunStarted
    | PhaseStarted
    | PhaseDone
    | AgentStarted
    | AgentProgress
    | AgentRetry
    | AgentDone
    | Asked
    | Logged
    | RunDone
)
Emit = Callable[[Event], None]
