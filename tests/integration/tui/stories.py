"""Conversations with a given story, without any agent."""

from siding.chat.alone import held_alone, writing
from siding.chat.conversations import begin
from siding.chat.store import QUEUE_WORK, Chat

from ..undo.desk import Desk


def told(desk: Desk, *events: object) -> Chat:
    """Return a conversation with this story, without any agent."""
    chat = begin(desk.project, desk.task, "claude")
    lock = held_alone(desk.project, chat, QUEUE_WORK)
    assert lock is not None
    with lock, writing(desk.project, chat) as story:
        for each in events:
            story.add(each)
    return chat
