"""Find where a conversation of Claude Code goes on, so that a turn and all after it are not in it.

The client takes the message after which it goes on (`--resume-session-at`), which has to be one of
the model's (2.1.329: with any other it ends). Siding's own agent keeps the same transcript.
"""

from pathlib import Path

from siding.agents.claude.past import typed
from siding.agents.claude.resuming import WayBack
from siding.agents.transcripts.heads import MessageHead
from siding.agents.transcripts.kinds import ASSISTANT, USER
from siding.agents.transcripts.reading.transcript import Transcript
from siding.ground.errors import SidingError
from siding.ground.storage.codec import NotJson, parse_object

_NO_RECORD = "its own record of the conversation is not there"
_NOT_THERE = "its conversation, as its own record has it now, does not have that prompt"
_SHORTER = "it has made its conversation shorter since that prompt"
_CUT_OFF = "the turn before was cut off in the middle of a tool, or before it was answered"


def way_back(path: Path | None, turn: str) -> WayBack:
    """Return how to go back to before a turn, named by our id of its prompt or by the agent's own.

    What was said before the newest compaction counts as not there.
    """
    if path is None:
        return WayBack(why_not=_NO_RECORD)
    try:
        with Transcript.live(path) as transcript:
            heads = transcript.shown()
            at = _place_of(transcript, heads, turn)
            if at is None:
                is_short = transcript.is_compacted(heads)
                return WayBack(why_not=_SHORTER if is_short else _NOT_THERE)
            return _before(transcript, heads[:at])
    except (SidingError, OSError) as error:
        return WayBack(why_not=f"its own record cannot be read: {error}")


def _before(transcript: Transcript, heads: list[MessageHead]) -> WayBack:
    for head in reversed(heads):
        if head.kind == ASSISTANT:
            return WayBack(head.uuid)
        if head.kind == USER and (head.answers or _is_said(transcript, head)):
            return WayBack(why_not=_CUT_OFF)
    return WayBack(why_not=_SHORTER) if transcript.is_compacted(heads) else WayBack(is_anew=True)


def _place_of(transcript: Transcript, heads: list[MessageHead], turn: str) -> int | None:
    places = [at for at, head in enumerate(heads) if head.kind == USER and not head.answers]
    ours = next((at for at in places if heads[at].uuid == turn), None)
    if ours is not None:
        return ours
    named = [at for at in places if _prompt_id(transcript, heads[at]) == turn]
    # In a copy Claude Code gives all prompts the same id of its own: then it names none.
    return named[0] if len(named) == 1 else None


def _prompt_id(transcript: Transcript, head: MessageHead) -> str:
    try:
        return str(parse_object(transcript.raw(head.offset, head.size)).get("promptId", ""))
    except NotJson:
        return ""


def _is_said(transcript: Transcript, head: MessageHead) -> bool:
    """Tell whether a message is a person's: not a command of the client's own, or its words."""
    return typed(transcript.raw(head.offset, head.size)) is not None
