"""How the call of an agent came out, judged by what it did and not by what it says alone. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from siding.agents.headless.output import fault_of
from siding.agents.headless.port import Fault, Headless, Seen
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Ending, Outcome
from siding.running.request import RunResult
from siding.workflows.outcome import Dead, DeadReason, Done, Used, Work
from siding.workflows.outcome import Outcome as CallOutcome
from siding.workflows.structured import extract

# What the usual parsers of command lines say: commander, yargs, clap, argparse, cobra, Go's flag.
_MISUSE = re.compile(
    r"unknown (option|argument|flag|command)|unrecognized (option|argument)|invalid choice"
    r"|allowed choices are|unexpected argument|invalid value .* for|flag provided but not defined"
    r"|missing required argument|(try|see) '[^']*(--help|-h)'|error: option '",
    re.IGNORECASE,
)
_PREVIEW = 200  # characters of a text in which an object was looked for
# Why an agent failed -> the reason, and whether another try may mend it.
_FAULTS: Mapping[Fault, tuple[DeadReason, bool]] = {
    Fault.TOO_LONG: (DeadReason.PROMPT_TOO_LONG, False),
    Fault.LOGIN: (DeadReason.API_ERROR, False),
    Fault.REFUSED: (DeadReason.API_ERROR, False),
    Fault.SERVER: (DeadReason.API_ERROR, True),
    Fault.NO_SESSION: (DeadReason.UNKNOWN, True),
    Fault.LIMIT: (DeadReason.BUDGET, False),
    Fault.OTHER: (DeadReason.UNKNOWN, True),
}


class Facts(NamedTuple):
    """What is known of an attempt when its run is over."""

    result: RunResult
    seen: Seen
    last_error: str = ""  # the last line on its standard error
    gave_up: bool = False  # it was ended because nothing happened
    idle_s: float = 0.0
    has_answered: bool = False  # it was ended, but not before its answer was there: `is_answered`
    wants_object: bool = False
    used: Used = Used()
    work: Work = Work()
    extra: Mapping[str, Any] = {}


def judged(headless: Headless, facts: Facts) -> CallOutcome:
    """Return how the call came out."""
    found = _death(headless, facts)
    if found is not None:
        reason, detail, retryable = found
        return Dead(
            reason=reason, detail=detail, retryable=retryable, used=facts.used, work=facts.work
        )
    if not facts.wants_object:
        return Done(output=facts.seen.text, used=facts.used, work=facts.work, extra=facts.extra)
    output = facts.seen.result if isinstance(facts.seen.result, dict) else extract(facts.seen.text)
    if output is None:
        preview = " ".join(facts.seen.text.split())[:_PREVIEW]
        return Dead(
            reason=DeadReason.NO_STRUCTURED_OUTPUT,
            detail=f"there is no JSON object in its answer: {preview!r}",
            used=facts.used,
            work=facts.work,
        )
    return Done(output=output, used=facts.used, work=facts.work, extra=facts.extra)


def is_answered(headless: Headless, result: RunResult, seen: Seen) -> bool:
    """Tell whether a run that was ended has its whole answer all the same.

    It is paid for, so it counts: many agents say what they used with their last word, or after it.
    """
    outcome = result.outcome
    if outcome is None or seen.fault is not None:
        return False
    if headless.says_end:
        return seen.ended
    return outcome.ending is Ending.EXITED and outcome.exit_code == 0


def is_without_session(facts: Facts) -> bool:
    """Tell whether the agent did nothing because it has not the conversation to go on with."""
    return _fault(facts) is Fault.NO_SESSION and not facts.seen.tools


def _death(headless: Headless, facts: Facts) -> tuple[DeadReason, str, bool] | None:
    """Return why there is no result, and whether another try may mend it; None if there is one."""
    outcome, seen = facts.result.outcome, facts.seen
    if outcome is None:
        return DeadReason.BLOCKED, _why_blocked(facts.result), False
    if facts.has_answered:
        return None
    ended = _ended_from_outside(outcome, facts)
    if ended is not None:
        return ended
    if _is_misused(facts):
        return DeadReason.UNKNOWN, _with_error("it does not take its options", facts), False
    fault = _fault(facts)
    if fault is not None:
        reason, retryable = _FAULTS[fault]
        return reason, seen.error or facts.last_error, retryable
    if headless.says_end and not seen.ended:
        how = (
            f"it ended with {outcome.exit_code}" if outcome.exit_code else "its output was cut off"
        )
        return DeadReason.UNKNOWN, _with_error(f"{how} before it was done", facts), True
    if outcome.exit_code != 0:
        return DeadReason.UNKNOWN, _with_error(f"it ended with {outcome.exit_code}", facts), True
    if headless.has_answer and not seen.text.strip() and seen.result is None:
        return DeadReason.UNKNOWN, _with_error("it ended without a word", facts), True
    return None


def _is_misused(facts: Facts) -> bool:
    """Tell whether the program refused its command line: another try would be refused as well."""
    seen, outcome = facts.seen, facts.result.outcome
    if outcome is None or outcome.exit_code == 0 or seen.ended or seen.tokens or seen.text:
        return False
    return _MISUSE.search(facts.last_error) is not None


def _fault(facts: Facts) -> Fault | None:
    """Return why the agent says that it has failed: some say it on standard error alone."""
    seen, outcome = facts.seen, facts.result.outcome
    if seen.fault is not None or seen.ended or outcome is None or outcome.exit_code == 0:
        return seen.fault
    found = fault_of(facts.last_error)
    return None if found is Fault.OTHER else found


def _ended_from_outside(outcome: Outcome, facts: Facts) -> tuple[DeadReason, str, bool] | None:
    if facts.gave_up:
        detail = (
            f"it said nothing for {_minutes(facts.idle_s)}; its last words: {facts.seen.says!r}"
        )
        return DeadReason.NO_PROGRESS, detail, True
    match outcome.ending:
        case Ending.TIMEOUT:
            return DeadReason.TOTAL_TIMEOUT, outcome.reason or "its time was up", True
        case Ending.STOPPED | Ending.INTERRUPTED:
            return DeadReason.KILLED, outcome.reason or "its run was stopped", False
        case Ending.LIMIT:
            return DeadReason.BUDGET, outcome.reason or "it passed a limit of its run", False
        case Ending.SIGNALLED:
            return DeadReason.UNKNOWN, _with_error(outcome.reason or "a signal", facts), True
        case Ending.NOT_STARTED:
            return DeadReason.THREW, outcome.reason or "it could not be started", False
        case Ending.EXITED:
            return None


def _why_blocked(result: RunResult) -> str:
    reason = result.ruling.reason or result.sandbox.refusal
    failed = next((hook for hook in result.hooks if hook.exit_code != 0), None)
    if not reason and failed is not None:
        return f"the hook {failed.command!r} ended with {failed.exit_code}"
    return reason or "its run was not allowed to begin"


def _with_error(what: str, facts: Facts) -> str:
    return f"{what}: {facts.last_error}" if facts.last_error else what


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
