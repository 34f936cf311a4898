"""Hold a conversation, with one agent after the other, until nobody is to hold it any more."""

import time
from collections.abc import Callable

from siding.chat.events import Ended
from siding.chat.handback import settle_handed_over
from siding.chat.host import Host
from siding.chat.noting import noting
from siding.chat.state import Talk
from siding.chat.store import Chat
from siding.chat.switching import carry_out, is_settled, wants_switch
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
    waits = [on_held]  # whoever waits for the first agent's start

    def held(talk: Talk) -> None:
        while waits:
            waits.pop()(talk)

    while True:
        with FileLock(chat.lock).acquire(holder=holder):
            settle_handed_over(project, task, chat)
            if wants_switch(chat):
                if not is_settled(chat.talk()):
                    Host(project, task, chat, request=request, on_held=held).settle()
                carry_out(project, chat)
            is_for_screen = _serve(project, task, chat, request, held)
            while carry_out(project, chat):
                is_for_screen = _serve(project, task, chat, request, held)
        if not is_for_screen or _is_taken(chat):
            return 0
        # Whoever wanted the screen has gone: the queue goes on.


def _serve(
    project: Project, task: Task, chat: Chat, request: RunRequest, held: Callable[[Talk], None]
) -> bool:
    """Hold one agent until it has ended. Why it could not be held is in the story, too."""
    try:
        return Host(project, task, chat, request=request, on_held=held).serve()
    except Exception as error:
        with noting(project, chat) as story:
            story.add(Ended(None, str(error) or type(error).__name__))
        raise


def _is_taken(chat: Chat) -> bool:
    """Wait for whoever wanted the agent's own screen to hold the conversation."""
    end = time.monotonic() + _TAKEN_WITHIN_S
    while not chat.has_host():
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK_S)
    return True
