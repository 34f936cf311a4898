"""What became of a prompt, for those who wait for it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.agents.talking.port import Cause
from siding.chat.talk import Talk
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text

__all__ = ["SETTLED", "SETTLES_WITHIN_S", "Cause", "Outcome", "PromptEnd", "end_in"]

# After these a turn that has ended is recorded, or is not going to be.
SETTLED = frozenset({"recorded", "sending", "ended", "hosted"})
SETTLES_WITHIN_S = 3.0  # a turn that is in no run that is recorded has none of them


class Outcome(StrEnum):
    """How a prompt ended."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    DROPPED = "dropped"  # it was never given to the agent
    UNSURE = "unsure"  # nothing shows whether the agent has taken it


_OUTCOMES = {each.value: each for each in Outcome}
_CAUSES = {each.value: each for each in Cause}


class PromptEnd(NamedTuple):
    """The end of a prompt: that of its turn, if it had one."""

    outcome: Outcome
    reason: str = ""
    cause: Cause = Cause.OTHER


def end_in(line: Mapping[str, Any], before: Talk, now: Talk) -> tuple[str, PromptEnd] | None:
    """Return which prompt has ended with a line of the story, and how; None if none has.

    `before` and `now` is where the conversation stood before the line, and after it.
    """
    prompt = text(line.get("prompt"))
    match line.get("event"):
        case "dropped":
            return prompt, PromptEnd(Outcome.DROPPED)
        case "unsure":
            why = "nothing shows whether the agent has taken it"
            return prompt, PromptEnd(Outcome.UNSURE, why)
        case "turn-ended" if before.sent is not None and now.sent is None:
            outcome = _OUTCOMES.get(text(line.get("how")), Outcome.FAILED)
            cause = _CAUSES.get(text(line.get("cause")), Cause.OTHER)
            return before.sent.prompt, PromptEnd(outcome, text(line.get("reason")), cause)
    return None
