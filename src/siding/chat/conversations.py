"""Begin conversations, and ask things of them: what every face calls."""

import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from siding.agents.table import BY_NAME
from siding.agents.talking.port import TALKING
from siding.chat.events import Began, record_of
from siding.chat.hold import hold
from siding.chat.requests import GivePrompt, Request
from siding.chat.state import Standing, Talk
from siding.chat.store import Chat, Chats
from siding.chat.story import Story
from siding.ground.errors import NoActiveTask, SidingError, UsageError
from siding.ground.files.durable import create_bytes, flush_dir, make_dirs
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.control.frames import connect_to
from siding.ground.process.detach import Background, Begun, in_background
from siding.ground.storage.fields import words
from siding.ground.storage.locks import LockBusy
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.tasks.names import name_after_command
from siding.record.tasks.task import Task
from siding.running.request import RunRequest
from siding.sandbox.request import SandboxRequest
from siding.tasks.start import start_task

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
    "sandbox_in",
    "task_for",
    "wake",
]

_LARGEST_FILE = 32 << 20
_HELD_WITHIN_S = 30.0
_LOOK_S = 0.02
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})


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
    name = new or name_after_command(project.redaction.words(about))
    return start_task(project, name=name, base=None).task


def begin(
    project: Project,
    task: Task,
    agent: str,
    *,
    options: Sequence[str] = (),
    model: str = "",
    by: str = "",
    sandbox: SandboxRequest | None = None,
) -> Chat:
    """Make a new conversation. Its agent is started by `ensure_host`. Raises UsageError."""
    row = BY_NAME.get(agent)
    if row is None or TALKING.of(agent) is None:
        names = ", ".join(TALKING.agents)
        raise UsageError(
            f"{agent!r} cannot be held in a conversation",
            hint=f"these can: {names}; others run with `siding run`",
        )
    chat = Chats(project.task_layout(task.id)).begin()
    story = Story(chat.story)
    began = Began(
        agent, row.programs[:1], tuple(options), model, by, _sandbox_record(project, sandbox)
    )
    story.add({"seq": 1, "at": project.app.now(), **record_of(began)}, now=True)
    story.close()
    flush_dir(chat.directory)
    return chat


def give(
    project: Project,
    chat: Chat,
    words: str,
    *,
    by: str,
    files: Sequence[Path] = (),
    steers: bool = False,
) -> str:
    """Store a prompt for the agent; return its id. Raises UsageError."""
    if not words.strip() and not files:
        raise UsageError("the prompt is empty", hint="say what the agent is to do")
    names = tuple(_kept(chat, project, each) for each in files)
    prompt = str(uuid.UUID(bytes=project.app.random_bytes(16), version=4))
    put(project, chat, GivePrompt(prompt, words, names, steers), by=by)
    return prompt


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
    project: Project, task: Task, chat: Chat, sandbox: SandboxRequest | None = None
) -> bool:
    """Start a host for the conversation if it has none; tell whether one was started.

    Returns when the agent's run has begun. Raises what refuses a run, and NotHeld.
    """
    if chat.has_host():
        return False

    def work(background: Background) -> int:
        app = project.app._replace(pid=background.pid)
        own = Project(app, project.layout, project.paths)
        talk = chat.talk()
        request = RunRequest(
            talk.program,
            task=task.id,
            agent=talk.agent,
            reports=False,
            ask="wait",
            cwd=".",
            sandbox=sandbox or sandbox_in(talk),
        )
        try:
            return hold(own, task, chat, request, lambda talk: background.begin(talk.run))
        except LockBusy:
            background.begin("another")
            return 0

    begun = in_background(work)
    if not isinstance(begun, Begun):
        raise NotHeld(
            f"the agent of conversation {chat.id} could not be started (exit status {begun})"
        )
    return begun.said != "another"


def _sandbox_record(project: Project, asked: SandboxRequest | None) -> dict[str, Any]:
    """Return what was asked of the sandbox, with paths that mean the same from anywhere."""
    given = SandboxRequest() if asked is None else asked
    read, write = (
        tuple(each if each.startswith("~") else str(project.app.cwd / each) for each in paths)
        for paths in (given.read, given.write)
    )
    fields = given._replace(read=read, write=write)._asdict()
    return {name: value for name, value in fields.items() if value not in (None, ())}


def sandbox_in(talk: Talk) -> SandboxRequest:
    """Return what was asked of the sandbox as the conversation began."""
    usual = SandboxRequest()._asdict()
    known = {name: value for name, value in talk.sandbox.items() if name in usual}
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


def _kept(chat: Chat, project: Project, path: Path) -> str:
    """Keep a picture beside the story; return its name there. Raises UsageError."""
    kind = path.suffix.lower()
    if kind not in _PICTURES:
        raise UsageError(
            f"{str(path)!r} is no picture", hint=f"one of {', '.join(sorted(_PICTURES))}"
        )
    try:
        data = read_bytes(path, limit=_LARGEST_FILE)
    except (OSError, SidingError) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}") from None
    make_dirs(chat.files)
    name = f"{project.app.random_bytes(6).hex()}{kind}"
    create_bytes(chat.files / name, data)
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


def _listed(chat: Chat) -> Listed:
    talk = chat.talk()
    if (talk.is_held_by_host or talk.is_handed_over) and not chat.has_host():
        talk = talk._replace(is_held_by_host=False, is_handed_over=False)  # its host was killed
    return Listed(chat.id, talk, talk.standing)


def refuse_steer(chat: Chat) -> None:
    """Raise UsageError if the agent takes no prompt into a running turn."""
    agent = chat.talk().agent
    talking = TALKING.of(agent)
    if talking is None or not talking.abilities.steers:
        raise UsageError(
            f"{agent} takes no prompt into a turn that runs",
            hint="`siding chat send` gives it the next one; `siding chat stop` ends the turn",
        )
