"""Hold a conversation, with one agent after the other, until nobody is to hold it any more."""

import time
from collections.abc import Callable

from siding.chat.host import Host
from siding.chat.requests import GivePrompt
from siding.chat.store import HOST_WORK, Chat
from siding.chat.switching import carry_out, is_settled, wants_switch
from siding.chat.talk import Talk
from siding.ground.storage.locks import FileLock, Holder
from siding.record.place.project import Project
from siding.record.tasks.task import Task
from siding.running.request import RunRequest

_FREE_WITHIN_S = 1.0
_TAKEN_WITHIN_S = 3.0
_LOOK_S = 0.02


def hold(
    project: Project, task: Task, chat: Chat, request: RunRequest, on_held: Callable[[Talk], None]
) -> None:
    """Hold the agent of a conversation in this process until it has ended.

    A prompt that comes while it ends finds the lock held, and so nobody who would start another
    host; this one looks for it when it has let go of the lock. If the agent has made room for its
    own screen and nobody opens that, it goes on as well. Raises LockBusy and CannotHold.
    """
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=HOST_WORK)
    goes_on = True
    while goes_on:
        # Who changes what waits holds the lock for a moment.
        with FileLock(chat.lock).acquire(holder=holder, timeout_s=_FREE_WITHIN_S):
            _settle(project, task, chat, request)
            while True:
                host = Host(project, task, chat, request=request, on_held=on_held)
                goes_on = host.serve()
                on_held = _nobody if host.was_held else on_held
                if not carry_out(project, chat):
                    break
        if host.is_for_screen:
            goes_on = not _is_taken(chat)
        else:
            goes_on = goes_on or _has_prompts(chat)


def _settle(project: Project, task: Task, chat: Chat, request: RunRequest) -> None:
    """Carry out what a killed host, or a killed screen, had begun."""
    if chat.talk().is_handed_over:
        from siding.chat.handback import settle_handed_over

        settle_handed_over(project, task, chat)
    if not wants_switch(chat):
        return
    if not is_settled(chat.talk()):
        Host(project, task, chat, request=request, on_held=_nobody).settle()
    carry_out(project, chat)


def _is_taken(chat: Chat) -> bool:
    """Wait for whoever wanted the agent's own screen to hold the conversation."""
    end = time.monotonic() + _TAKEN_WITHIN_S
    while not chat.has_host():
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK_S)
    return True


def _has_prompts(chat: Chat) -> bool:
    return any(isinstance(each.request, GivePrompt) for each in chat.requests.waiting())


def _nobody(_talk: Talk) -> None:
    """Nobody waits any more until the agent is ready."""
