"""Write the story of a conversation, without secrets, and know where it stands."""

from collections.abc import Callable, Mapping
from typing import Any

from siding.agents.talking.port import PromptTaken
from siding.chat.events import Dropped, Edited, Proven, Queued, record_of
from siding.chat.failing import CannotHold
from siding.chat.masking import PIECES, Masker
from siding.chat.state import Talk, after
from siding.chat.store import Chat
from siding.chat.story import Story
from siding.record.place.project import Project


class Writer:
    """The one writer of a story. Raises CannotHold if it cannot be read.

    `talk` is where the conversation stands. `done` are requests that still lie there and were acted
    on. `on_grown` is called after each line.
    """

    def __init__(self, project: Project, chat: Chat) -> None:
        self._chat = chat
        self._now = project.app.now
        self._redaction = project.redaction
        self._masker = Masker(project.redaction)
        self.on_grown: Callable[[], None] = _nothing
        try:
            self.talk, self.done = chat.talk_and_done()
            self._story = Story(chat.story)
        except OSError as error:
            about = f"the story of conversation {chat.id} cannot be read: {error}"
            raise CannotHold(about) from error

    def add(self, event: Any, request: str = "", *, now: bool = False) -> Talk:
        """Note an event; return where the conversation stands then.

        The end of a piece of text may be held back until more of it comes, or another event.
        """
        *before, last = [*self._masker.of(event)] or [None]
        for each in before:
            self._write(each, "", now=False)
        if last is not None:
            self._write(last, request, now=now)
        return self.talk

    def is_at_its_place(self) -> bool:
        return self._story.is_at(self._chat.story)

    def close(self) -> None:
        self._story.close()

    def _write(self, event: Any, request: str, *, now: bool) -> None:
        record: Mapping[str, Any] = {
            "seq": self.talk.seq + 1,
            "at": self._now(),
            **record_of(event),
            **({"request": request} if request else {}),
        }
        kept = record if isinstance(event, PIECES) else self._redaction.record(record)
        has_secret = isinstance(event, Queued | Edited) and kept["text"] != event.text
        if has_secret:
            self._chat.keep_prompt(event.prompt, event.text)
        self._story.add(kept, now=now)
        # A text that was edited has no secret any more: what was kept is not to be sent.
        if isinstance(event, Dropped | PromptTaken | Proven | Edited) and not has_secret:
            self._chat.forget_prompt(event.prompt)
        self.talk = after(self.talk, kept)
        self.on_grown()


def _nothing() -> None:
    """Nobody is connected yet."""
