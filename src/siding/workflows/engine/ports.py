"""The calls of a script, and what the engine needs of the world to carry them out.

Both sides of each port pass one suite of tests.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Protocol

from siding.ground.namedtuples import NamedTuple
from siding.workflows.outcome import Outcome, Used, Work


class AgentCall(NamedTuple):
    """What one call of `agent` asks for. Times are in seconds, "" and None are not given."""

    id: int
    path: str
    prompt: str
    schema: Mapping[str, Any] | None = None
    model: str = ""
    max_tokens: int | None = None
    agent_type: str = ""
    isolation: str = ""  # "" (shared), turn, read or worktree
    allowed_tools: tuple[str, ...] = ()
    label: str = ""
    phase: str = ""
    timeout_s: float | None = None
    effort: str = ""
    retries: int | None = None
    bring_back: bool = True  # of a worktree: what it changed comes back when it is done
    details: bool = False  # the script gets where the work was done, beside the result

    @property
    def name(self) -> str:
        """What a person calls this agent."""
        return self.label or f"#{self.id}"


class Attempt(NamedTuple):
    """One of the tries at a call.

    `session` is the agent's own conversation of an attempt that was cut off, to go on with.
    `correction` is what was wrong with the result of the attempt before.
    """

    number: int = 1
    session: str = ""
    correction: str = ""


class Question(NamedTuple):
    """What `ask` puts to a person."""

    path: str
    question: str
    options: tuple[str, ...] = ()
    context: str = ""
    recommend: str = ""
    multiple: bool = False
    timeout_s: float | None = None


class CommandCall(NamedTuple):
    """What `run` asks for: a shell command in the run's workspace, or in a fork of it."""

    path: str
    command: str
    fork: str = ""
    timeout_s: float | None = None
    label: str = ""


def command_call(path: str, asked: Mapping[str, Any]) -> CommandCall:
    """Return the command that the script's process has checked and sent."""
    return CommandCall(
        path=path,
        command=asked["command"],
        fork=asked.get("fork", ""),
        timeout_s=asked.get("timeout"),
        label=asked.get("label", ""),
    )


def agent_call(number: int, path: str, asked: Mapping[str, Any]) -> AgentCall:
    """Return the call that the script's process has checked and sent."""
    return AgentCall(
        id=number,
        path=path,
        prompt=asked["prompt"],
        schema=asked.get("schema"),
        model=asked.get("model", ""),
        max_tokens=asked.get("max_tokens"),
        agent_type=asked.get("agent_type", ""),
        isolation=asked.get("isolation", ""),
        allowed_tools=tuple(map(str, asked.get("allowed_tools", ()))),
        label=asked.get("label", ""),
        phase=asked.get("phase", ""),
        timeout_s=asked.get("timeout"),
        effort=asked.get("effort", ""),
        retries=asked.get("retries"),
        bring_back=asked.get("bring_back", True),
        details=asked.get("details", False),
    )


def question(path: str, asked: Mapping[str, Any]) -> Question:
    """Return the question that the script's process has checked and sent."""
    return Question(
        path=path,
        question=asked["question"],
        options=tuple(asked.get("options", ())),
        context=asked.get("context", ""),
        recommend=asked.get("recommend", ""),
        multiple=asked.get("multiple", False),
        timeout_s=asked.get("timeout"),
    )


# -- What the engine needs of the world ------------------------------------------------------------


class AgentUnavailable(Exception):
    """The call asks for an agent, a model or an isolation that there is not. The script gets it."""


class CannotRecord(Exception):
    """The disk does not hold what an agent does. The run ends, and is resumed when it does."""


class Cancelled(Exception):
    """The people who were asked took the question back."""


class Report(NamedTuple):
    """What an agent at work says of itself. Each report has all that is known so far."""

    used: Used = Used()
    work: Work = Work()
    says: str = ""


class Agents(Protocol):
    """Runs agents. Safe to be called many times at once, from one event loop."""

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        """Run an agent until it ends, and return how its call came out.

        `report` may be called at any time until then, in the thread of the loop. If the call is
        cancelled, the agent and everything that it started is ended before CancelledError goes on.
        Raises AgentUnavailable for what trying again cannot mend, and CannotRecord; any other
        exception counts as `Dead` with the reason `runagent-threw`.
        """
        ...


class People(Protocol):
    """Puts questions to a person."""

    async def ask(self, question: Question) -> Any:
        """Return the answer; it may take days. Raises Cancelled.

        A question that was asked before, by a process that died, is asked once.
        """
        ...


class Refused(Exception):
    """What the script wants done in a workspace is not done; the text says why."""


class Workspaces(Protocol):
    """Does what is no agent's work in the workspaces of a run."""

    async def run(self, call: CommandCall) -> Mapping[str, Any]:
        """Run a command until it ends; return its `exit`, `passed`, `output` and `step`.

        If the call is cancelled, the command is ended first. Raises Refused.
        """
        ...

    async def bring_back(self, fork: str) -> Mapping[str, Any]:
        """Bring a fork's change onto the run's workspace; return the `step`, or `conflicts`.

        Raises Refused.
        """
        ...


class Sources(Protocol):
    """Finds the scripts of other workflows."""

    def named(self, name: str) -> str:
        """Return the source of the workflow with this name. Raises WorkflowNotFound."""
        ...

    def at(self, path: str) -> str:
        """Return the source in a file. Raises WorkflowNotFound."""
        ...


class ScriptProcess(Protocol):
    """The process of a script: two descriptors, which the engine closes, and its end."""

    to_program: int
    from_program: int
    complaint: str  # the last line of its standard error, once it has ended

    def end(self) -> int:
        """Kill it; return its status (-N: signal N)."""
        ...


class Control(StrEnum):
    """What is to become of an agent's call."""

    SKIP = "skip"  # the script goes on without it
    RETRY = "retry"  # its attempt is ended, and another one begins
    KILL = "kill"  # its attempt is ended; it failed
