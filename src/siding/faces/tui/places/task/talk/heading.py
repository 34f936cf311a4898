"""What the head says of a conversation: who is there, with what, and how it stands."""

from siding.chat.talk import Standing, Talk
from siding.chat.viewing import Portion
from siding.chat.wording import short

_STANDS = {
    Standing.STARTING: "starting",
    Standing.IDLE: "waits for a prompt",
    Standing.RUNNING: "works",
    Standing.WAITS: "asks",
    Standing.STOPPING: "is told to stop",
    Standing.HELD: "what waits is held",
    Standing.HANDED_OVER: "on its own screen",
    Standing.UNSURE: "a prompt is unsure",
    Standing.ENDED: "ended; a prompt brings it back",
}


def heading(chat: str, portion: Portion, *, is_cut: bool) -> str:
    """Return how it stands, and how fast its turn is. What matters most comes first."""
    said = [f"{chat} {standing(portion.talk)}"]
    if is_cut:
        said.append(f"older parts: siding chat show -c {chat}")
    if portion.pace.first_at:
        said.append(portion.pace.said())
    return " · ".join(said)


def standing(talk: Talk) -> str:
    """Return how it stands, in words."""
    words = _STANDS[talk.standing]
    return f"{words}: {talk.trouble}" if talk.trouble and talk.standing is Standing.HELD else words


def settings(portion: Portion) -> str:
    """Return who is there, and what the agent works with, as far as it is known."""
    talk = portion.talk
    pairs = (("", talk.model), ("mode ", talk.mode), ("effort ", talk.effort))
    said = [talk.agent, *(f"{name}{value}" for name, value in pairs if value)]
    if talk.context:
        said.append(_context(talk.context, portion.window))
    return " · ".join(said)


def _context(used: int, window: int) -> str:
    return f"ctx {100 * used // window} %" if window else f"ctx {short(used)}"
