"""Write the story of a conversation, without secrets, and know where it stands."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from siding.agents.talking.port import PromptTaken
from siding.chat.events import Dropped, Edited, Proven, Queued, record_of
from siding.chat.failing import CannotHold
from siding.chat.kept import Keeper
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
            self._keeper = Keeper(chat.kept)
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

    def keep(self) -> None:
        """Keep beside the story where the conversation stands, if a list shows something else."""
        with suppress(OSError):  # without room: who asks reads the story
            self._keeper.keep(self.talk, self._story.size)

    def close(self) -> None:
        self.keep()
        self._story.close()

    def _write(self, event: Any, request: str, *, now: bool) -> None:
        record: Mapping[str, Any] = {
            "seq": self.talk.seq + 1,
            "at": self._now(),
            **record_of(event),
            **({"request": request} if request else {}),
        }
        kept = record if isinstance(event, PIECES) else self._redaction.record(record)
        if isinstance(event, Queued | Edited) and kept["text"] != event.text:
            self._chat.keep_prompt(event.prompt, event.text)
        self._story.add(kept, now=now)
        if isinstance(event, Dropped | PromptTaken | Proven):
            self._chat.forget_prompt(event.prompt)
        self.talk = after(self.talk, kept)
        self.on_grown()


def _nothing() -> None:
    """Nobody is connected yet."""
