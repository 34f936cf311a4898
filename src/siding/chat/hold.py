"""Hold a conversation, with one agent after the other, until nobody is to hold it any more."""

import time
from collections.abc import Callable

from siding.chat.handback import settle_handed_over
from siding.chat.host import Host
from siding.chat.state import Talk
from siding.chat.store import Chat
from siding.ground.storage.locks import FileLock, Holder
from siding.record.place.project import Project
from siding.record.tasks.task import Task
from siding.running.request import RunRequest

_TAKEN_WITHIN_S = 3.0
_LOOK_S = 0.02


def hold(
    project: Project, task: Task, chat: Chat, request: RunRequest, on_held: Callable[[Talk], None]
) -> int:
    """Hold the agent of a conversation in this process until it has ended. Raises LockBusy."""
    holder = Holder(pid=project.app.pid, since=project.app.now(), what="a conversation")
    while True:
        with FileLock(chat.lock).acquire(holder=holder):
            settle_handed_over(project, task, chat)
            host = Host(project, task, chat, request=request, on_held=on_held)
            is_for_screen = host.serve()
        if not is_for_screen or _is_taken(chat):
            return 0
        on_held = _nobody  # whoever wanted the screen has gone, and the queue goes on


def _is_taken(chat: Chat) -> bool:
    """Wait for whoever wanted the agent's own screen to hold the conversation."""
    end = time.monotonic() + _TAKEN_WITHIN_S
    while not chat.has_host():
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK_S)
    return True


def _nobody(_talk: Talk) -> None:
    """Nobody waits for the agent's start."""
