"""The prompts of a conversation as a person names them, and what became of each.

A prompt has a number for good: the third that was given is 3, wherever it waits. So a list that
somebody has read names the right one, though the queue has gone on meanwhile.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.chat.requests import GivePrompt
from siding.chat.state import after
from siding.chat.store import Chat
from siding.chat.story import StoryReader
from siding.chat.talk import Talk
from siding.ground.errors import NotFound, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text, words

SHORT = 8  # characters of a prompt's id that are shown
_LEAST = 4  # that name one


class Fate(StrEnum):
    """What became of a prompt."""

    WAITS = "waits"
    SENT = "sent"  # the agent has it, or may have it
    TAKEN = "taken"
    UNSURE = "unsure"  # nothing shows whether the agent has taken it
    DROPPED = "dropped"


class Prompt(NamedTuple):
    """One prompt that was given."""

    number: int
    id: str
    text: str
    files: tuple[str, ...] = ()
    by: str = ""
    at: str = ""
    fate: Fate = Fate.WAITS

    def as_record(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "prompt": self.id,
            "state": self.fate.value,
            "text": self.text,
            "files": list(self.files),
            "by": self.by,
            "at": self.at,
        }


class Prompts(NamedTuple):
    """All prompts of a conversation, oldest first, and where it stands."""

    talk: Talk
    all: tuple[Prompt, ...]

    def open(self) -> list[Prompt]:
        """Return those that a person can do something about: unsure, sent, then as they wait."""
        by_id = {each.id: each for each in self.all}
        talk = self.talk
        sent = (*((talk.sent,) if talk.sent else ()), *talk.steered)
        ids = [each.prompt for each in (*talk.unsure, *sent, *talk.queue)]
        return [by_id[each] for each in ids if each in by_id]

    def find(self, named: str) -> Prompt:
        """Return the prompt of a number, or of the beginning of an id. Raises NotFound."""
        found = [each for each in self.all if str(each.number) == named]
        if not found and len(named) >= _LEAST:
            found = [each for each in self.all if each.id.startswith(named)]
        if len(found) > 1:
            numbers = ", ".join(str(each.number) for each in found)
            raise UsageError(f"{named!r} is the beginning of several prompts: {numbers}")
        if not found:
            raise NotFound(
                f"there is no prompt {named!r} in this conversation",
                hint="`siding chat queue` lists what waits, with its numbers",
            )
        return found[0]


_FATES: Mapping[str, Fate] = {
    "sending": Fate.SENT,
    "prompt-taken": Fate.TAKEN,
    "proven": Fate.TAKEN,
    "unsure": Fate.UNSURE,
    "requeued": Fate.WAITS,
    "dropped": Fate.DROPPED,
}


_EVENTS = ("queued", "edited", *_FATES)


def prompts_of(chat: Chat) -> Prompts:
    """Return the prompts of a conversation, those among them of which its host has not heard."""
    waiting = chat.requests.waiting()  # first: one that is gone then is in the story
    found = dict[str, Prompt]()
    reader = StoryReader(chat.story)
    try:
        for line in reader.records_of(_EVENTS):
            _take(found, line)
    finally:
        reader.close()
    talk = chat.talk()
    for each in waiting:
        request = each.request
        if isinstance(request, GivePrompt) and request.prompt not in found:
            line = {"event": "queued", **request._asdict(), "by": each.by}
            _take(found, line)
            if talk.sent is None or talk.sent.prompt != request.prompt:
                talk = after(talk, line)
    return Prompts(talk, tuple(found.values()))


def _take(found: dict[str, Prompt], line: Mapping[str, Any]) -> None:
    event, prompt = text(line.get("event")), text(line.get("prompt"))
    before = found.get(prompt)
    if event == "queued" and before is None:
        found[prompt] = Prompt(
            number=len(found) + 1,
            id=prompt,
            text=text(line.get("text")),
            files=words(line.get("files")),
            by=text(line.get("by")),
            at=text(line.get("at")),
        )
    elif before is not None and event == "edited":
        found[prompt] = before._replace(text=text(line.get("text")))
    elif before is not None and event in _FATES:
        found[prompt] = before._replace(fate=_FATES[event])
