"""Runs whose agents a conversation holds: what is to reach one is a prompt in its queue."""

import time
from collections.abc import Mapping
from typing import Any

from siding.chat.store import Chat, Chats
from siding.chat.story import StoryReader
from siding.chat.talk import Standing
from siding.ground.ids import TaskId
from siding.ground.storage.codec import NotJson, parse_object
from siding.record.place.project import Project
from siding.record.runs.store import Runs
from siding.running.apart import end_chat, send_to_chat, stop_chat

_LOOK_S = 0.1
_TAIL = 32 << 10  # bytes of a story in which its last words are looked for


class HeldRuns:
    """The conversations of a project whose agents live."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def chat_of(self, task_id: TaskId, run: str) -> str:
        """Return the id of the conversation that holds the agent of a run; "" if none does."""
        if not self._project.task_layout(task_id).chats_dir.is_dir():
            return ""
        for chat in Chats(self._project.task_layout(task_id)).all():
            if chat.has_host() and chat.talk(is_live=True).run == run:
                return chat.id
        return ""

    def give(self, task_id: TaskId, chat: str, prompt: str) -> None:
        """Put a prompt into the queue of a conversation; begin its agent if it has ended."""
        send_to_chat(self._project.app, self._project.paths.root, task_id, chat, prompt)

    def stop(self, task_id: TaskId, chat: str) -> str:
        """End the turn that runs, or the agent if none does; say which."""
        app, root = self._project.app, self._project.paths.root
        talk = self._find(task_id, chat).talk()
        if talk.is_running or talk.sent is not None:
            stop_chat(app, root, task_id, chat)
            return f"{chat} is told to stop its turn"
        end_chat(app, root, task_id, chat)
        return f"{chat} ends; a prompt brings it back"

    def last_words(self, task_id: TaskId, chat: str) -> list[str]:
        """Return the lines that its agent said last."""
        story = self._find(task_id, chat).story
        size = story.stat().st_size
        reader = StoryReader(story, max(0, size - _TAIL))
        try:
            lines = [*reader.lines()]
        finally:
            reader.close()
        said = "".join(_text_of(line) for line in (lines if size <= _TAIL else lines[1:]))
        return [line for line in said.splitlines() if line.strip()]

    def _find(self, task_id: TaskId, chat: str) -> Chat:
        return Chats(self._project.task_layout(task_id)).find(chat)


def resting_runs(project: Project, task_id: TaskId) -> dict[str, bool]:
    """Return the runs whose agents conversations of a task hold, and whether each is idle: its
    agent lives, and does nothing.
    """
    found = {}
    for chat in Chats(project.task_layout(task_id)).all():
        if chat.has_host():
            talk = chat.talk(is_live=True)
            found[talk.run] = talk.standing is Standing.IDLE
    return found


def await_turns(project: Project, task_id: TaskId) -> bool:
    """Wait until each conversation of a task is idle, if nothing else runs there; tell whether
    that is so. The agent of an idle one lives on for as long as its person likes.
    """
    runs = Runs(project.task_layout(task_id))
    while True:
        live = {each.id for each in runs.live()}
        held = resting_runs(project, task_id)
        if not live <= held.keys():
            return False
        if all(held[each] for each in live):
            return True
        time.sleep(_LOOK_S)


def _text_of(line: bytes) -> str:
    try:
        record: Mapping[str, Any] = parse_object(line)
    except NotJson:
        return ""
    if record.get("event") == "turn-started":
        return "\n"
    text = record.get("text") if record.get("event") == "text" else ""
    return text if isinstance(text, str) else ""
