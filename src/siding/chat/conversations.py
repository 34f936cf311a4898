"""Begin conversations, and ask things of them: what every face calls."""

import json
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from siding.agents.table import BY_NAME
from siding.agents.talking.any_program import agent_of_run, line_program, talking_of
from siding.agents.talking.port import TALKING, Talking
from siding.chat.alone import held_alone, writing
from siding.chat.events import Began, SandboxAsked, record_of
from siding.chat.hold import hold
from siding.chat.pictures import Picture
from siding.chat.requests import LONGEST, GivePrompt, Request
from siding.chat.store import HOST_WORK, QUEUE_WORK, Chat, Chats
from siding.chat.talk import Standing, Talk
from siding.ground.errors import NoActiveTask, SidingError, UsageError
from siding.ground.files.durable import create_bytes, make_dirs
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.control.frames import connect_to
from siding.ground.process.detach import Background, Begun, in_background
from siding.ground.storage.fields import words
from siding.ground.storage.locks import FileLock, LockBusy
from siding.ground.storage.writes import encode_line
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.tasks.names import name_after_command
from siding.record.tasks.task import Task, TaskState
from siding.running.request import RunRequest
from siding.sandbox.request import SandboxRequest

__all__ = [
    "Listed",
    "NotHeld",
    "Task",
    "begin",
    "ensure_host",
    "give",
    "listed",
    "put",
    "refuse_steer",
    "require_settable",
    "require_words",
    "sandbox_in",
    "task_for",
    "wake",
]

LONGEST_PROMPT = LONGEST - (64 << 10)  # bytes: what is around it has room as well
_LOOK_S = 0.02
_TAKEN_WITHIN_S = 1.0  # what is asked of a host that lives
_TAKEN_LOOK_S = 0.005
_ANOTHER, _REFUSED = "another", "!"  # what a host says to whoever has started it, beside its run


class NotHeld(SidingError):
    """The agent could not be started."""

    code = "not_held"


def task_for(
    project: Project, named: str | None, *, new: str | None, about: tuple[str, ...]
) -> Task:
    """Return the task to talk in; start one if a new one is wanted, or none is active."""
    if new is None:
        try:
            return select(project, named)
        except NoActiveTask:
            pass
    from siding.tasks.start import start_task

    name = new or name_after_command(project.redaction.words(about))
    return start_task(project, name=name, base=None).task


def require_settable(agent: str, *, model: str = "", mode: str = "", effort: str = "") -> Talking:
    """Return how an agent is held. Raises UsageError if it is not, or cannot be set so."""
    talking = talking_of(agent)
    if talking is None:
        names = ", ".join(TALKING.agents)
        raise UsageError(
            f"{agent!r} cannot be held in a conversation",
            hint=f"these can: {names}; others run with `siding run`, or by lines: "
            "siding chat -- PROGRAM",
        )
    can = talking.abilities
    for name, wanted, is_able in (
        ("model", model, can.models),
        ("mode", mode, can.modes),
        ("effort", effort, can.efforts),
    ):
        if wanted and not is_able:
            raise UsageError(
                f"the {name} of {agent} cannot be set in a conversation",
                hint=f"`siding chat abilities {agent}` says what can",
            )
    return talking


def begin(
    project: Project,
    task: Task,
    agent: str,
    *,
    options: Sequence[str] = (),
    model: str = "",
    mode: str = "",
    effort: str = "",
    by: str = "",
) -> Chat:
    """Make a new conversation. Its agent is started by `ensure_host`. Raises UsageError.

    Of a program that is held by lines `options` is the whole command line.
    """
    require_settable(agent, model=model, mode=mode, effort=effort)
    program, options = line_program(agent, options) or (BY_NAME[agent].programs[:1], options)
    chat = Chats(project.task_layout(task.id)).begin()
    began = Began(agent, program, tuple(options), model, by, mode, effort)
    line = encode_line({"seq": 1, "at": project.app.now(), **record_of(began)})
    try:
        create_bytes(chat.story, line + b"\n")  # whole or not at all: without it there is none
    except OSError:
        with suppress(OSError):
            chat.directory.rmdir()
        raise
    return chat


def give(
    project: Project,
    chat: Chat,
    words: str,
    *,
    by: str,
    pictures: Sequence[Picture] = (),
    steers: bool = False,
) -> str:
    """Store a prompt for the agent; return its id. Raises UsageError."""
    if words or not pictures:
        require_words(words)
    names = tuple(_kept(chat, project, each) for each in pictures)
    prompt = str(uuid.UUID(bytes=project.app.random_bytes(16), version=4))
    put(project, chat, GivePrompt(prompt, words, names, steers), by=by)
    return prompt


def require_words(words: str) -> None:
    """Raise UsageError if this is no prompt."""
    if not words.strip():
        raise UsageError("the prompt is empty", hint="say what the agent is to do")
    try:
        size = len(json.dumps(words, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        raise UsageError(
            "the prompt is not UTF-8", hint="is the terminal's locale right?"
        ) from None
    if "\0" in words:
        raise UsageError("the prompt has a NUL character: it is no text")
    if size > LONGEST_PROMPT:
        raise UsageError(
            f"the prompt is too long: {size:,} bytes, and {LONGEST_PROMPT:,} is the most",
            hint="put it into a file of the workspace, and name that",
        )


def put(project: Project, chat: Chat, request: Request, *, by: str) -> str:
    """Store a request, and wake the host if there is one; return the request's id."""
    at_ns = time.time_ns()
    request_id = chat.requests.put(
        request, by=by, at_ns=at_ns, more=project.app.random_bytes(4).hex()
    )
    wake(chat)
    return request_id


def wake(chat: Chat) -> None:
    """Have the host look for requests."""
    with suppress(OSError):
        connected = connect_to(chat.socket)
        connected.sendall(b".")
        connected.close()


def ensure_host(
    project: Project,
    task: Task,
    chat: Chat,
    sandbox: SandboxRequest | None = None,
    *,
    apart: bool = False,
) -> bool:
    """Start a host for the conversation if it has none; tell whether one was started.

    With `apart` it is no descendant of this process, which lives on: whoever ends that with all of
    its descendants, as some editors do, does not end the agent.

    Returns when the agent is ready, or has been starting for a while. Raises NotHeld, with the
    reason that the story has.
    """
    if _has_living_host(chat):
        return False
    try:
        if sandbox is not None:
            _keep_sandbox(project, chat, sandbox)
        talk = chat.talk()
    except OSError as error:
        raise NotHeld(f"the story of conversation {chat.id} cannot be read: {error}") from None

    def work(background: Background) -> int:
        app = project.app._replace(pid=background.pid)
        own = Project(app, project.layout, project.paths)
        request = RunRequest(
            talk.program,
            task=task.id,
            agent=agent_of_run(talk.agent),
            reports=False,
            ask="wait",
            leave="end",
            cwd=".",
            sandbox=sandbox or sandbox_in(talk),
        )
        begun: list[str] = []

        def begin(said: str) -> None:
            if not begun:
                begun.append(said)
                background.begin(said)

        try:
            hold(own, task, chat, request, lambda talk: begin(talk.run))
        except LockBusy:
            begin(_ANOTHER)
        except SidingError as error:
            begin(_REFUSED + json.dumps([error.message, error.hint]))
        return 0

    begun = in_background(work, apart=apart)
    if not isinstance(begun, Begun):
        raise NotHeld(f"the host of conversation {chat.id} ended at once (exit status {begun})")
    if begun.said.startswith(_REFUSED):
        message, hint = json.loads(begun.said.removeprefix(_REFUSED))
        raise NotHeld(f"the agent of conversation {chat.id} is not there: {message}", hint=hint)
    return begun.said != _ANOTHER


def _has_living_host(chat: Chat) -> bool:
    """Tell whether there is a host, and not only a lock that one who dies has still.

    A host that is killed takes nothing any more, and its lock is free some milliseconds later. One
    that lives takes what is asked at once, except when it is stopped.
    """
    end = time.monotonic() + _TAKEN_WITHIN_S
    while chat.has_host():
        holder = FileLock(chat.lock).holder()
        if holder is not None and holder.what != HOST_WORK:
            return True  # the agent's own screen, say: requests wait until it is closed
        if not chat.requests.waiting() or time.monotonic() > end:
            return True
        time.sleep(_TAKEN_LOOK_S)
    return False


def _keep_sandbox(project: Project, chat: Chat, asked: SandboxRequest) -> None:
    """Note what is asked of the sandbox for later hosts; paths mean the same from anywhere."""
    read, write = (
        tuple(each if each.startswith("~") else str(project.app.cwd / each) for each in paths)
        for paths in (asked.read, asked.write)
    )
    fields = asked._replace(read=read, write=write)._asdict()
    record = {name: value for name, value in fields.items() if value not in (None, ())}
    lock = held_alone(project, chat, QUEUE_WORK) if record else None
    if lock is not None:  # else there is a host already
        with lock, writing(project, chat) as story:
            story.add(SandboxAsked(record), now=True)


def sandbox_in(talk: Talk) -> SandboxRequest:
    """Return what was asked of the sandbox when it was begun."""
    usual = SandboxRequest()._asdict()
    known = {name: value for name, value in talk.sandbox.items() if name in usual}
    if known.get("profile") in BY_NAME:  # that of an agent, which another one may have followed
        del known["profile"]
    lists = {name: words(value) for name, value in known.items() if usual[name] == ()}
    return SandboxRequest(**{**known, **lists})


def await_line(chat: Chat, wanted: Callable[[Talk], bool], timeout_s: float) -> bool:
    """Wait until a conversation stands so; tell whether it does."""
    end = time.monotonic() + timeout_s
    while not wanted(chat.talk()):
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK_S)
    return True


def _kept(chat: Chat, project: Project, picture: Picture) -> str:
    """Keep a picture beside the story; return its name there."""
    make_dirs(chat.files)
    name = f"{project.app.random_bytes(6).hex()}{picture.suffix}"
    create_bytes(chat.files / name, picture.data)
    return name


class Listed(NamedTuple):
    """One conversation, as it is listed."""

    id: str
    talk: Talk
    standing: Standing

    def as_record(self) -> dict[str, Any]:
        talk = self.talk
        return {
            "chat": self.id,
            "agent": talk.agent,
            "state": self.standing.value,
            "run": talk.run,
            "session": talk.session,
            "model": talk.model,
            "title": talk.title,
            "turns": talk.turns,
            "queue": [{"prompt": each.prompt, "text": each.text} for each in talk.queue],
            "unsure": [{"prompt": each.prompt, "text": each.text} for each in talk.unsure],
            "asks": [{"ask": each.ask, "decision": each.decision} for each in talk.asks],
            "trouble": talk.trouble,
        }


def listed(project: Project, named: str | None) -> tuple[Task, list[Listed]]:
    """Return the conversations of a task, oldest first."""
    task = select(project, named)
    return task, [_listed(each) for each in Chats(project.task_layout(task.id)).all()]


def listed_everywhere(project: Project) -> list[tuple[Task, list[Listed]]]:
    """Return the conversations of all open tasks that have some."""
    tasks = [each for each in project.tasks.readable() if each.status is not TaskState.CLOSED]
    found = [(each, Chats(project.task_layout(each.id)).all()) for each in tasks]
    return [(task, [_listed(each) for each in chats]) for task, chats in found if chats]


def _listed(chat: Chat) -> Listed:
    try:
        talk = chat.present()
    except (OSError, SidingError) as error:
        talk = Talk(trouble=f"its story cannot be read: {error}")
    return Listed(chat.id, talk, talk.standing)


def refuse_steer(chat: Chat) -> None:
    """Raise UsageError if the agent takes no prompt into a running turn."""
    agent = chat.talk().agent
    talking = talking_of(agent)
    if talking is None or not talking.abilities.steers:
        raise UsageError(
            f"{agent} takes no prompt into a turn that runs",
            hint="`siding chat send` gives it the next one; `siding chat stop` ends the turn",
        )
