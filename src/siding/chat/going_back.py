"""Whether an agent goes back inside its conversation, now that turns of it were taken back.

What is to be done is in the story before the agent is ended (`GoingBack`). The next host begins the
agent there; the old conversation stays whole, so that a redo leads back to it.
"""

from siding.agents.talking.port import Hold, Talking
from siding.chat.events import GoingBack, NotBack
from siding.chat.store import Chat
from siding.chat.story import StoryReader
from siding.chat.talk import Talk, Waiting
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text
from siding.record.ledger.memories import Place
from siding.record.ledger.turns import Copied
from siding.record.runs.reported import first_line


class Present(NamedTuple):
    """The agent's conversation as a prompt is about to go."""

    session: str = ""
    is_new: bool = False  # nothing was said in it
    copied: Copied = Copied()  # of what it is a copy, where no turn of it says so yet
    goes_back: bool = False  # the agent can, and is to


def present_of(talk: Talk, prompt: Waiting, *, can: bool) -> Present:
    """Return what the recorder has to know of the conversation. `can`: its agent can go back."""
    back = talk.back
    copied = Copied(*talk.copied[1:]) if talk.copied[:1] == (talk.session,) else Copied()
    if back is not None:
        copied = Copied(back.session, back.before) if back.before else Copied()
    is_new = talk.taken == 0 and back is None
    return Present(talk.session, is_new, copied, can and not prompt.remembers)


def held_there(talk: Talk, hold: Hold, new_session: str) -> Hold:
    """Return how the agent is held where it is, or where it is to go back to."""
    if talk.back is None:
        return hold._replace(session=talk.session, new_session="" if talk.session else new_session)
    session, before = talk.back.session, talk.back.before
    new = new_session if before or not session else ""
    return hold._replace(session=session, before=before, new_session=new)


def decided(
    chat: Chat, talk: Talk, talking: Talking, hold: Hold, place: Place
) -> GoingBack | NotBack | None:
    """Return what is noted of a place to go to; None if it was said before that it cannot."""
    session = place.session
    if talk.back is not None and session == talk.session:
        session = talk.back.session  # the copy is not there yet; it begins as the other one does
    if talk.stays == (session, place.before):
        return None
    why_not = _why_not(chat, talk, talking, hold._replace(session=session, before=place.before))
    if why_not:
        return NotBack(session, place.before, why_not)
    return GoingBack(
        session,
        place.before,
        first_line(place.about),
        len(place.forgets),
        len(place.recalls),
        _untold(talk, place),
    )


def _why_not(chat: Chat, talk: Talk, talking: Talking, hold: Hold) -> str:
    if talk.background:
        return f"this runs in the background and would end: {', '.join(talk.background)}"
    if hold.before and _is_shorter(chat, hold.before):
        return "it has made its conversation shorter since that prompt"
    return talking.opened(hold).why_not


def _is_shorter(chat: Chat, prompt: str) -> bool:
    """Tell whether the agent has compacted its conversation since a prompt was given."""
    is_behind = found = False
    reader = StoryReader(chat.story)
    try:
        for line in reader.records_of(("sending", "compacted")):
            if text(line.get("prompt")) == prompt:
                is_behind, found = True, False
            found = found or (is_behind and line.get("event") == "compacted")
    finally:
        reader.close()
    return found


def _untold(talk: Talk, place: Place) -> int:
    """Return up to which line the story is to be told at that place; 0 for nothing of it.

    What an agent heard of others goes with the prompt that it came with.
    """
    if not talk.told_with:
        return talk.untold
    is_kept = any(each.detail.turn == talk.told_with for each in place.keeps)
    return 0 if is_kept else talk.told_until
