"""What the engine needs of the world. Both sides of each port pass one suite of tests."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from siding.ground.namedtuples import NamedTuple
from siding.workflows.calls import AgentCall, Attempt, CommandCall, Question
from siding.workflows.outcome import Outcome, Used, Work


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
