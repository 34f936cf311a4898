"""The calls of a script, as the engine gives them to those who carry them out."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple


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
