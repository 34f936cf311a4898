"""How much the model is to think: what was asked for, by whom, and what is said about it. Pure.

What an effort means to a provider is the adapters' (`assistant.models.request_settings`).
"""

import re
from enum import StrEnum

from siding.assistant.loop.model import Effort
from siding.ground.errors import UsageError, counted
from siding.ground.namedtuples import NamedTuple

VARIABLE = "SIDING_AGENT_EFFORT"
LEAST_TOKENS = 1
MOST_TOKENS = 1_000_000
_NONE = ("auto", "unset")
_SHOWN = (*Effort, "auto")

MEANINGS = {
    Effort.LOW: "quick and short, for what is simple",
    Effort.MEDIUM: "some thought before it acts",
    Effort.HIGH: "thinks a problem through",
    Effort.XHIGH: "long thought, for what is hard",
    Effort.MAX: "as much as the model can, whatever it costs",
}


class EffortMistake(UsageError):
    """A text is no effort."""

    code = "bad_effort"


class EffortFrom(StrEnum):
    """Who has asked for an effort, in the order in which they go before each other."""

    FLAG = "--effort"
    ENVIRONMENT = VARIABLE
    SESSION = "this session"
    SETTINGS = "the settings"
    MODEL = "the model"


class EffortChoice(NamedTuple):
    """The effort in force, and who has asked for it. None: it is left to the model."""

    effort: Effort | int | None
    by: EffortFrom


class EffortChange(NamedTuple):
    """What becomes of a wish for another effort.

    `session` is what counts in this session, `settings` what the settings are to have, None where
    they stay as they are; `clears`: both are to have none.
    """

    message: str
    session: Effort | int | None = None
    settings: Effort | int | None = None
    clears: bool = False


def effort_named(text: str) -> Effort | int | None:
    """Return an effort: a level, or a number of tokens; None for ``auto``. Raises EffortMistake."""
    word = text.strip().lower()
    if word in _NONE:
        return None
    if word in list(Effort):
        return Effort(word)
    if re.fullmatch(r"[0-9]{1,9}", word) and LEAST_TOKENS <= int(word) <= MOST_TOKENS:
        return int(word)
    raise EffortMistake(
        f"{text.strip()!r} is no effort",
        hint=f"it is one of {', '.join(_SHOWN)}, or a number of tokens from {LEAST_TOKENS} to "
        f"{MOST_TOKENS:,}",
    )


def effort_in_force(
    *,
    flag: str | None = None,
    variable: str | None = None,
    session: Effort | int | None = None,
    settings: Effort | int | None = None,
) -> EffortChoice:
    """Return the effort in force. ``auto`` of a flag or the variable leaves it to the model.

    Raises EffortMistake for a flag or a variable that is none; an empty variable is not set.
    """
    for text, by in ((flag, EffortFrom.FLAG), (variable, EffortFrom.ENVIRONMENT)):
        if text is None or (by is EffortFrom.ENVIRONMENT and not text.strip()):
            continue
        try:
            return EffortChoice(effort_named(text), by)
        except EffortMistake as error:
            raise EffortMistake(f"{by}: {error.message}", hint=error.hint) from None
    if session is not None:
        return EffortChoice(session, EffortFrom.SESSION)
    if settings is not None:
        return EffortChoice(settings, EffortFrom.SETTINGS)
    return EffortChoice(None, EffortFrom.MODEL)


def shown_effort(effort: Effort | int | None) -> str:
    """Return an effort for people, with what it means."""
    if effort is None:
        return "auto (as the model is used to)"
    if isinstance(effort, Effort):
        return f"{effort} ({MEANINGS[effort]})"
    return counted(effort, "token")


def told_effort(choice: EffortChoice) -> str:
    """Return what is in force, as a sentence."""
    by = "" if choice.by is EffortFrom.MODEL else f", by {choice.by}"
    return f"The effort is {shown_effort(choice.effort)}{by}."


def change_effort(wanted: str, now: EffortChoice) -> EffortChange:
    """Return what becomes of a wish for another effort; `now` is in force. Raises EffortMistake.

    The levels up to `xhigh` and numbers are kept in the person's settings. `max` counts in this
    session only: nobody should go on paying for it without knowing.
    """
    effort = effort_named(wanted)
    is_fixed = now.by in (EffortFrom.FLAG, EffortFrom.ENVIRONMENT)
    if effort is None:
        message = "The effort is left to the model from now on."
        if is_fixed:
            message = (
                f"The settings have no effort any more, but {now.by} asks for "
                f"{shown_effort(now.effort)} and goes before them."
            )
        return EffortChange(message, clears=True)
    if effort is Effort.MAX:
        if is_fixed and now.effort != effort:
            return EffortChange(
                f"Not changed: {now.by} asks for {shown_effort(now.effort)} and goes before this "
                "session. `max` is never kept, so nothing was stored."
            )
        message = f"The effort is {shown_effort(effort)} in this session. It is not kept."
        return EffortChange(message, session=effort)
    message = f"The effort is {shown_effort(effort)}, also in later sessions."
    if is_fixed and now.effort != effort:
        message = (
            f"Kept for later: {shown_effort(effort)}. {now.by} asks for "
            f"{shown_effort(now.effort)} and goes before it until you take that away."
        )
    return EffortChange(message, session=effort, settings=effort)
