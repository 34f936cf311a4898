"""What a conversation's story has beside what its agent says (`siding.agents.talking.port`).

An event becomes a line of JSON: its name in `event`, and its fields, without those that have their
usual value. FORMAT.md lists them.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.ground.namedtuples import NamedTuple


class Began(NamedTuple):
    """The conversation began."""

    agent: str
    program: tuple[str, ...]
    options: tuple[str, ...] = ()
    model: str = ""
    by: str = ""
    mode: str = ""
    effort: str = ""


class SandboxAsked(NamedTuple):
    """Each host's agent is to be in this sandbox: a request, without what was not said."""

    sandbox: Mapping[str, Any]


class Queued(NamedTuple):
    """A person, or a program, gave a prompt. `files` are pictures, kept beside the story."""

    prompt: str
    text: str
    files: tuple[str, ...] = ()
    steers: bool = False
    by: str = ""
    remembers: bool = False  # the agent is told what was taken back, and does not go back


class Edited(NamedTuple):
    """A prompt that waits has other words now."""

    prompt: str
    text: str
    by: str = ""


class Moved(NamedTuple):
    """A prompt that waits was put before another; last, if `before` is empty."""

    prompt: str
    before: str = ""
    by: str = ""


class Dropped(NamedTuple):
    """A prompt that waits, or that is unsure, was taken out."""

    prompt: str
    by: str = ""


class Requeued(NamedTuple):
    """A prompt that was sent waits again, at the head: the agent provably has not taken it."""

    prompt: str
    reason: str = ""


class Sending(NamedTuple):
    """The agent is given this prompt now. What follows may have happened or not until it says."""

    prompt: str
    steers: bool = False


class Informed(NamedTuple):
    """The agent is told this before a prompt: what it does not know of the conversation, and what
    was taken back of its work."""

    prompt: str
    text: str


class GoingBack(NamedTuple):
    """The agent is to go back inside, as what came of turns was taken back: to the conversation
    `session`, in a copy that ends before a turn of it."""

    session: str
    before: str = ""  # the turn's id; "": the conversation goes on as it is
    about: str = ""  # what that turn was asked
    forgets: int = 0  # turns that were undone
    recalls: int = 0  # turns that were done again
    untold: int = 0  # the story up to this line is to be told (again) with the next prompt


class WentBack(NamedTuple):
    """The agent has gone back. It knows nothing of turns that were undone."""

    agent: str
    before: str = ""
    about: str = ""
    forgets: int = 0
    recalls: int = 0


class NotBack(NamedTuple):
    """The agent does not go back inside; it is told what was taken back."""

    session: str
    before: str = ""
    reason: str = ""


class Proven(NamedTuple):
    """The agent's own record says that it had taken a prompt."""

    prompt: str


class Unsure(NamedTuple):
    """Nothing shows whether the agent has taken a prompt: a person decides."""

    prompt: str


class StopAsked(NamedTuple):
    """Somebody wants the turn to end. What waited is dropped."""

    by: str = ""


class Held(NamedTuple):
    """What waits is not sent until somebody goes on, or until this moment (ISO 8601)."""

    reason: str = ""
    until: str = ""


class WentOn(NamedTuple):
    """What was held is sent from now on."""

    by: str = ""


class Recorded(NamedTuple):
    """The turn that ended last is recorded, as this step of the task."""

    step: int


class Put(NamedTuple):
    """What the agent asked was put to a person, as this decision."""

    ask: str
    decision: str
    always: tuple[str, ...] = ()  # for how long a yes may count: conversation, task, agent
    may: str = ""  # what would be allowed then


class Answered(NamedTuple):
    """What the agent asked is answered so. It is on the disk before the agent hears of it."""

    ask: str
    allows: bool
    always: bool = False
    reason: str = ""
    choices: Mapping[str, str] = {}
    by: str = ""
    # For how long Siding keeps a yes, or has kept the one that allows it: as in `put`.
    lasts: str = ""
    may: str = ""  # what is allowed for so long


class Hosted(NamedTuple):
    """A host holds the agent, in this run of the task."""

    run: str
    session: str = ""
    servers: tuple[str, ...] = ()  # of tools (MCP) that it is given, by name


class Ended(NamedTuple):
    """The agent has ended."""

    exit_code: int | None = None
    reason: str = ""
    wanted: bool = False  # somebody had it ended


class HandOverAsked(NamedTuple):
    """The agent's own screen is to be opened when the turn has ended."""

    by: str = ""


class HandedOver(NamedTuple):
    """The agent's own screen is opened on the conversation. Nobody else holds it until then."""

    by: str = ""


class ScreenOpened(NamedTuple):
    """The own screen runs, in this run of the task."""

    run: str


class HandedBack(NamedTuple):
    """The own screen is closed. `session` is the conversation that it had last; "": the same."""

    session: str = ""
    prompts: int = 0  # that were given on the screen
    reason: str = ""  # how it was closed, if nobody left it


class HoldKept(NamedTuple):
    """The agent was not ended, as was asked: this runs in the background, and would end with it."""

    running: tuple[str, ...]


class Told(NamedTuple):
    """What was said where no host held the agent, as the agent's own transcript has it."""

    who: str  # person, agent or tool
    text: str
    said_at: str = ""


class Took(NamedTuple):
    """The conversation was held on a screen of its own before, in this run."""

    run: str
    session: str
    left_out: int = 0  # messages, oldest first, that the story does not have
    by: str = ""


class SwitchAsked(NamedTuple):
    """Another agent is to go on when the turn has ended."""

    agent: str
    program: tuple[str, ...]
    options: tuple[str, ...] = ()
    model: str = ""
    by: str = ""
    forced: bool = False  # whatever the present one has running in the background


class Switched(NamedTuple):
    """This agent goes on. It is told what was said before with the next prompt."""

    agent: str
    program: tuple[str, ...]
    options: tuple[str, ...] = ()
    model: str = ""
    session: str = ""  # its own, if it has been in this conversation before
    mode: str = ""  # with which it begins, as the one before had it; "" for its own
    effort: str = ""
    left: tuple[str, ...] = ()  # what of the settings did not go along, for people


class CompactAsked(NamedTuple):
    """The agent is to make its conversation shorter, when no turn runs."""

    by: str = ""


class SettingsAsked(NamedTuple):
    """Settings are to be changed. `is_kept`: no agent is there; the next one is begun so."""

    model: str = ""
    mode: str = ""
    effort: str = ""
    by: str = ""
    is_kept: bool = False


_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def name_of(event: type[Any]) -> str:
    """Return the name of a kind of event, as `event` has it: ``turn-ended``."""
    return _WORDS.sub("-", event.__name__).lower()


def record_of(event: Any) -> dict[str, Any]:
    """Return an event as its record."""
    usual = event._field_defaults
    fields = {
        name: plain(value)
        for name, value in zip(event._fields, event, strict=True)
        if name not in usual or usual[name] != value
    }
    return {"event": name_of(type(event)), **fields}


def plain(value: Any) -> Any:
    """Return a value of an event as JSON can hold it; what has its usual value is left out."""
    if hasattr(value, "_fields"):
        usual = value._field_defaults
        pairs = zip(value._fields, value, strict=True)
        return {n: plain(v) for n, v in pairs if n not in usual or usual[n] != v}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    return value
