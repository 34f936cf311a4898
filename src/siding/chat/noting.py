"""Add to the story of a conversation that no host holds: the caller holds its lock."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from siding.chat.events import record_of
from siding.chat.state import Talk, after
from siding.chat.store import Chat
from siding.chat.story import Story
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.place.project import Project


class Noting:
    """Adds lines. `talk` is where the conversation stands with them."""

    def __init__(self, project: Project, chat: Chat) -> None:
        self._project = project
        self._story = Story(chat.story)
        self.talk = chat.talk()

    def add(self, event: Any, request: str = "") -> Talk:
        """Add a line; it is on the disk when this returns. `request`: it is the effect of this."""
        record = {
            "seq": self.talk.seq + 1,
            "at": self._project.app.now(),
            **record_of(event),
            **({"request": request} if request else {}),
        }
        kept = self._project.redaction.record(record)
        self._story.add(kept, now=True)
        self.talk = after(self.talk, kept)
        return self.talk

    def close(self) -> None:
        self._story.close()


@contextmanager
def noting(project: Project, chat: Chat) -> Iterator[Noting]:
    """Add lines; the caller holds the lock."""
    found = Noting(project, chat)
    try:
        yield found
    finally:
        found.close()


def held_alone(project: Project, chat: Chat, what: str) -> FileLock | None:
    """Hold a conversation, as a host does, so that nobody else does; None if somebody does."""
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=what)
    try:
        return FileLock(chat.lock).acquire(holder=holder)
    except LockBusy:
        return None
