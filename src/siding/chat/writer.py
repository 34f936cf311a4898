"""Writes the story of a conversation, with what is secret left out. It is for whoever has its lock.

Where the conversation stands (`talk`) is kept beside it, so that nobody reads the story again.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from siding.agents.talking.port import PromptTaken, TurnEnded
from siding.chat.events import Dropped, Edited, Proven, Queued, record_of
from siding.chat.kept import Keeper
from siding.chat.masking import PIECES, Masker
from siding.chat.requests import Asked, GivePrompt
from siding.chat.state import after
from siding.chat.store import Chat
from siding.chat.story import Story
from siding.chat.talk import Talk
from siding.record.place.project import Project


class StoryWriter:
    """The story of one conversation, open for its one writer.

    `done` are requests that still lie there and whose effect is in the story. `on_grown` is called
    after each line.
    """

    def __init__(self, project: Project, chat: Chat) -> None:
        self._project, self._chat = project, chat
        self._masker = Masker(project.redaction)
        self.on_grown: Callable[[], None] = _nothing
        self._story = Story(chat.story)
        self.talk, done = chat.talk_and_done()
        self.done = set(done)
        self._keeper = Keeper(chat.kept)

    def add(self, event: Any, request: str = "", *, now: bool = False) -> Talk:
        """Append an event; return where the conversation stands then.

        `request` is the one of which it is the effect. With `now` it is on the disk at return. The
        end of a piece of text may be held back until more of it comes, or another event.
        """
        *before, last = [*self._masker.of(event)] or [None]
        for each in before:
            self._write(each, "", now=False)
        if last is not None:
            self._write(last, request, now=now)
        return self.talk

    def flush(self) -> None:
        """Append what is held back of pieces of text: no more of it comes."""
        for each in self._masker.rest():
            self._write(each, "", now=False)

    def take_away(self, requests: Iterable[Asked]) -> None:
        """Take away requests that were carried out, as soon as their effects are on the disk."""
        self._story.sync()
        for each in requests:
            self._chat.requests.done(each.id, durably=each.id not in self.done)
            self.done.discard(each.id)

    def is_at_its_place(self) -> bool:
        return self._story.is_at(self._chat.story)

    def keep(self) -> bool:
        """Keep beside the story where the conversation stands, if a list shows something else.

        Tell whether one does.
        """
        with suppress(OSError):  # without room: who asks reads the story
            return self._keeper.keep(self.talk, self._story.size)
        return True

    def keep_prompts(self) -> None:
        """Note prompts that nobody has taken yet: the next host goes on with them."""
        for asked in self._chat.requests.waiting():
            request = asked.request
            if isinstance(request, GivePrompt) and asked.id not in self.done:
                given = request._replace(steers=False)._asdict()
                self.add(Queued(**given, by=asked.by), asked.id)
                self.take_away([asked])

    def close(self) -> None:
        self.keep()
        self._story.close()

    def _write(self, event: Any, request: str, *, now: bool) -> None:
        record: Mapping[str, Any] = {
            "seq": self.talk.seq + 1,
            "at": self._project.app.now(),
            **record_of(event),
            **({"request": request} if request else {}),
        }
        kept = record if isinstance(event, PIECES) else self._project.redaction.record(record)
        has_secret = isinstance(event, Queued | Edited) and kept["text"] != event.text
        if has_secret:
            self._chat.keep_prompt(event.prompt, event.text)
        self._story.add(kept, now=now)
        if request:
            self.done.add(request)
        settled = self._settled_by(event)
        if settled and not has_secret:
            self._chat.forget_prompt(settled)
        self.talk = after(self.talk, kept)
        self.on_grown()

    def _settled_by(self, event: Any) -> str:
        """Return the prompt whose words as they were given are not needed any more; "" for none."""
        sent = self.talk.sent
        match event:
            case Dropped() | Proven() | Edited():  # an edited text may have no secret any more
                return str(event.prompt)
            # Its agent may be killed before it writes down that it has taken what was sent.
            case PromptTaken(prompt) if sent is None or sent.prompt != prompt:
                return prompt
            case TurnEnded() if sent is not None and self.talk.is_taken:
                return sent.prompt
        return ""


def _nothing() -> None:
    """Nobody is to be told."""
