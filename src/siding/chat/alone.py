"""Hold a conversation, and write its story, without an agent."""

from collections.abc import Iterator
from contextlib import contextmanager

from siding.chat.store import Chat
from siding.chat.writer import StoryWriter
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.place.project import Project


@contextmanager
def writing(project: Project, chat: Chat) -> Iterator[StoryWriter]:
    """Write the story; the caller holds the lock."""
    writer = StoryWriter(project, chat)
    try:
        yield writer
    finally:
        writer.close()


def held_alone(project: Project, chat: Chat, what: str) -> FileLock | None:
    """Hold a conversation, as a host does, so that nobody else does; None if somebody does."""
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=what)
    try:
        return FileLock(chat.lock).acquire(holder=holder)
    except LockBusy:
        return None
