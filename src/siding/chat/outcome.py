"""What becomes of a request: its host carries it out, or, where no host is, this process does.

Nobody needs an agent to change what waits for it. Whoever asks takes the lock of the conversation
then, and does to its story what a host would; nothing is sent.
"""

import time
from collections.abc import Callable

from siding.agents.talking.abilities import Abilities
from siding.agents.talking.port import Answer, Event, Parts
from siding.chat.conversations import Task, ensure_host, put, wake
from siding.chat.events import SettingsAsked
from siding.chat.following import told
from siding.chat.machine import Machine
from siding.chat.requests import Asked, Change, Compact, GivePrompt, Request
from siding.chat.store import QUEUE_WORK, Chat
from siding.chat.talk import Talk, Waiting
from siding.chat.writer import StoryWriter
from siding.ground.errors import SidingError
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.place.project import Project

_PATIENCE_S = 30.0
_LOOK_S = 0.01
_JUST_NOW_NS = 5_000_000_000


class TooLate(SidingError):
    """What was to be changed is not as it was any more: nothing was done."""

    code = "too_late"


class NotAnswered(SidingError):
    """The host has not taken a request. It lies on the disk, and is carried out when it does."""

    code = "not_answered"


# Starts a host for a conversation if it has none.
Start = Callable[[Project, Task, Chat], object]


def carried_out(
    project: Project,
    task: Task,
    chat: Chat,
    request: Request,
    *,
    by: str,
    start: Start = ensure_host,
) -> bool:
    """Put a request and wait until it is carried out; tell whether it had an effect.

    A program with threads, which cannot fork, gives another `start`. Raises NotAnswered.
    """
    request_id = put(project, chat, request, by=by)
    end = time.monotonic() + _PATIENCE_S
    while chat.requests.has(request_id):
        if not chat.has_host():
            if work_off(project, chat):
                start(project, task, chat)
            continue
        if time.monotonic() > end:
            raise NotAnswered(
                f"the host of conversation {chat.id} has not answered for {_PATIENCE_S:.0f} s",
                hint="it is carried out when the host goes on; see `siding chat list`",
            )
        wake(chat)
        time.sleep(_LOOK_S)
    mark = request_id.encode()
    return any(mark in line for line in told(chat))


def work_off(project: Project, chat: Chat) -> bool:
    """Carry out what is asked of a conversation without a host; nothing is sent.

    Tells whether a prompt was among it that came right now: whoever gave it may have taken this
    process for its host, or a host that ends may not have seen it any more.
    """
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=QUEUE_WORK)
    try:
        lock = FileLock(chat.lock).acquire(holder=holder)
    except LockBusy:
        time.sleep(_LOOK_S)
        return False
    with lock:
        before_ns = time.time_ns() - _JUST_NOW_NS
        writer = StoryWriter(project, chat)
        try:
            is_given = work_off_in(writer, chat, since_ns=before_ns)
        finally:
            writer.close()
    return is_given


def _carry_out(asked: Asked, machine: Machine, writer: StoryWriter) -> None:
    match asked.request:
        case Change(model, mode, effort):
            kept = SettingsAsked(model, mode, effort, asked.by, is_kept=True)
            machine.talk = _without_agent(writer.add(kept, asked.id, now=True))
        case _:
            machine.asked_for(asked)


def _without_agent(talk: Talk) -> Talk:
    """As a killed host has left it, an agent seems to be there."""
    return talk._replace(is_held_by_host=False, is_open=False, is_running=False)


def work_off_in(writer: StoryWriter, chat: Chat, *, since_ns: int = 0) -> bool:
    """Carry it out, for whoever holds the conversation and no agent.

    Tells whether a prompt was given since a moment.
    """

    def note(event: object, request: str = "", *, now: bool = False) -> Talk:
        return _without_agent(writer.add(event, request, now=now))

    is_given = False
    machine = Machine(_without_agent(writer.talk), _Nobody(), note, _no_parts)
    for asked in chat.requests.waiting():
        if isinstance(asked.request, Compact):
            continue  # it is for an agent
        if asked.id not in writer.done:
            _carry_out(asked, machine, writer)
        if isinstance(asked.request, GivePrompt) and asked.at_ns > since_ns:
            is_given = True
        writer.take_away([asked])
    return is_given


class _Nobody:
    """The talker where there is no agent."""

    abilities = Abilities()
    session = ""

    def to_send(self) -> bytes:
        return b""

    def receive(self, data: bytes, /) -> list[Event]:
        assert not data
        return []

    def prompt(self, prompt_id: str, _parts: Parts, /) -> None:
        raise AssertionError(f"nobody is there for prompt {prompt_id}")

    def steer(self, prompt_id: str, _parts: Parts, /) -> None:
        raise AssertionError(f"nobody is there for prompt {prompt_id}")

    def stop(self) -> None:
        """Nothing runs."""

    def answer(self, ask: str, answer: Answer) -> None:
        """Nobody asks."""

    def set(self, *, model: str = "", mode: str = "", effort: str = "") -> None:
        """Nobody is to be told."""

    def compact(self) -> None:
        """Nothing is there."""


def _no_parts(waiting: Waiting) -> Parts:
    raise AssertionError(f"nobody is there for prompt {waiting.prompt}")
