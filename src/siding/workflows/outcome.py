"""How the call of an agent came out."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NewType, TypeVar

from siding.ground.namedtuples import NamedTuple

CallPath = NewType("CallPath", str)


class DeadReason(StrEnum):
    """Why an agent gave no result."""

    NO_STRUCTURED_OUTPUT = "no-structured-output"
    INVALID_STRUCTURED_OUTPUT = "invalid-structured-output"
    THREW = "runagent-threw"
    WORKTREE_FAILED = "worktree-failed"
    PROMPT_TOO_LONG = "prompt-too-long"
    API_ERROR = "api-error"
    TOTAL_TIMEOUT = "agent-total-timeout"
    NO_PROGRESS = "agent-no-progress"
    BUDGET = "budget"
    BLOCKED = "blocked"  # the policy or a person did not let it begin
    KILLED = "killed"  # by a person
    UNKNOWN = "unknown"


class Used(NamedTuple):
    """What an agent used. `dollars` is None if its model has no known price."""

    tokens: int = 0  # written by the model
    input_tokens: int = 0
    dollars: float | None = None
    tools: int = 0
    model: str = ""


class Work(NamedTuple):
    """Where the work of an agent can be seen: its run, step, session and workspace, by id."""

    task: str = ""
    run: str = ""
    step: str = ""
    session: str = ""
    fork: str = ""
    transcript: str = ""


class Done(NamedTuple):
    """The agent ended with a result: a text, or an object if there was a schema."""

    output: Any
    used: Used = Used()
    work: Work = Work()
    extra: Mapping[str, Any] = {}  # beside the result: what came back of a fork, say


class Skipped(NamedTuple):
    """A person let the run go on without this agent."""


class Dead(NamedTuple):
    """The agent gave no result. One that is not `retryable` is not run again by itself."""

    reason: DeadReason = DeadReason.UNKNOWN
    detail: str = ""
    retryable: bool = True
    used: Used = Used()
    work: Work = Work()


Outcome = Done | Skipped | Dead


def with_details(done: Done) -> Done:
    """Return the outcome whose output also says where the work was done, and what became of it."""
    work = {name: value for name, value in done.work._asdict().items() if value}
    return done._replace(output={"output": done.output, **work, **done.extra}, extra={})


def as_record(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as the journal has it."""
    match outcome:
        case Done():
            record: dict[str, Any] = {"kind": "ok", "output": outcome.output}
            if outcome.extra:
                record["extra"] = dict(outcome.extra)
        case Skipped():
            return {"kind": "skipped"}
        case Dead():
            record = {"kind": "dead", "reason": str(outcome.reason)}
            if outcome.detail:
                record["detail"] = outcome.detail
    used = {name: value for name, value in outcome.used._asdict().items() if value}
    work = {name: value for name, value in outcome.work._asdict().items() if value}
    return {**record, **({"used": used} if used else {}), **({"work": work} if work else {})}


def from_record(record: Mapping[str, Any]) -> Outcome:
    """Return the outcome that the journal has. What is refused or unknown gave no result."""
    used, work = _values(Used, record.get("used")), _values(Work, record.get("work"))
    match record.get("kind"):
        case "ok":
            extra = record.get("extra")
            return Done(
                output=record.get("output"),
                used=used,
                work=work,
                extra=extra if isinstance(extra, Mapping) else {},
            )
        case "skipped":
            return Skipped()
    reason = record.get("reason")
    return Dead(
        reason=DeadReason(reason) if reason in set(DeadReason) else DeadReason.UNKNOWN,
        detail=str(record.get("detail", "")),
        used=used,
        work=work,
    )


_Values = TypeVar("_Values", Used, Work)


def _values(kind: type[_Values], record: object) -> _Values:
    if not record or not isinstance(record, Mapping):
        return kind()
    known = kind._fields
    return kind(**{name: value for name, value in record.items() if name in known})
