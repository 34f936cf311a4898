"""Conversations for a Python program: begin one, prompt it, follow it, answer what its agent asks.

::

    from siding.chat.face import conversations_at

    talks = conversations_at("path/to/repository")
    talk = talks.begin("codex", new_task="fix the parser")
    turn = talk.prompt("Make the tests of the parser pass")
    print(turn.outcome, turn.text)

A program is a viewer, as a terminal is: the agent is held by a host, a process of its own, and goes
on when the program ends. Any number of programs and people use one conversation at once.

Beginning a host forks this process, so prompts are given while it has one thread. Every call raises
`SidingError`, with `message` and `hint`, where something cannot be done.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from siding.agents.table import OWN
from siding.agents.talking.abilities import Abilities
from siding.agents.talking.servers import McpServer, servers_in
from siding.asking.answer import answer as answer_decision
from siding.asking.answer import cancel as cancel_decision
from siding.asking.decisions.record import Via
from siding.chat.abilities import abilities_of
from siding.chat.answers import choices, permission, scope_named
from siding.chat.conversations import begin, ensure_host, give, put, refuse_steer
from siding.chat.ends import SETTLED, SETTLES_WITHIN_S, Outcome, PromptEnd, end_in
from siding.chat.following import followed, number_of, told
from siding.chat.outcome import TooLate, carried_out
from siding.chat.pictures import Picture
from siding.chat.requests import (
    Change,
    Compact,
    DropPrompt,
    EditPrompt,
    EndTalk,
    GoOn,
    MovePrompt,
    Request,
    StopTurn,
)
from siding.chat.servers import keep_servers
from siding.chat.state import after
from siding.chat.store import Chat, Chats
from siding.chat.story import record_in
from siding.chat.talk import OpenAsk, Standing, Talk, Waiting
from siding.chat.watching import Watch
from siding.ground.errors import NotFound, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project, ensure_project
from siding.record.place.selection import select
from siding.record.place.wiring import open_app
from siding.record.tasks.task import Task
from siding.sandbox.request import SandboxRequest
from siding.tasks.start import start_task

__all__ = [
    "Abilities",
    "Conversation",
    "Conversations",
    "McpServer",
    "OpenAsk",
    "Outcome",
    "Picture",
    "Reply",
    "Standing",
    "Talk",
    "Turn",
    "Waiting",
    "abilities_of",
    "conversations_at",
    "servers_in",
]

Event = Mapping[str, Any]  # a line of a story; the reference page lists them
_LOOKS_EVERY_S = 0.5  # whether the host is still there
_MOST_STARTS = 3  # of a host for one prompt
_OVER = SETTLED | {"dropped", "unsure"}


class Reply(NamedTuple):
    """What a person says to an ask: yes or no to a permission, or what was chosen.

    `choices` answer a question: a label or its number, ``2=LABEL`` for the second of several. With
    ``allows=False`` a question is left open, for `reason`.
    """

    allows: bool = True
    # For longer than once, as the ask's `always` says: "conversation" (or True), "task", "agent".
    always: bool | str = False
    reason: str = ""
    choices: Sequence[str] = ()


# Returns the answer to what the agent asks; None leaves it to others.
OnAsk = Callable[[OpenAsk], Reply | None]


class Turn(NamedTuple):
    """What became of a prompt. `events` is what the story has from it on."""

    prompt: str
    outcome: Outcome
    reason: str = ""
    text: str = ""  # what the agent said to the person
    events: tuple[Event, ...] = ()


def conversations_at(
    directory: str | Path, *, env: Mapping[str, str] | None = None
) -> "Conversations":
    """Return the conversations of the repository around a directory.

    The repository becomes a project of Siding if it is none. `env` is the environment that agents
    and Siding see, in place of this process's.
    """
    app = open_app(env=dict(os.environ if env is None else env), cwd=Path(directory).resolve())
    project, _made = ensure_project(app)
    return Conversations(project)


class Conversations:
    """The conversations of one project. `by` is who gives prompts, as the stories say it."""

    def __init__(self, project: Project, *, by: str = "program") -> None:
        self.project = project
        self._by = by

    def begin(
        self,
        agent: str,
        *,
        task: str | None = None,
        new_task: str | None = None,
        model: str = "",
        options: Sequence[str] = (),
        sandbox: SandboxRequest | None = None,
        servers: Sequence[McpServer] = (),
    ) -> "Conversation":
        """Begin a conversation, and start its agent.

        It is in `task`, by its name or id; else in a new one, called `new_task` or as the agent.
        The active task of the project stays what it is. `options` are words for the agent's own
        command line, and `servers` its tools (MCP) beside those of its own settings. Raises
        UsageError and NotFound before anything is made, and NotHeld.
        """
        abilities_of(agent)
        self._require_installed(agent)
        if task is None:
            started = start_task(self.project, name=new_task or agent, base=None, switch=False)
            of_task = started.task
        else:
            of_task = select(self.project, task)
        chat = begin(self.project, of_task, agent, options=options, model=model, by=self._by)
        keep_servers(chat, servers)
        made = Conversation(self.project, of_task, chat, by=self._by, sandbox=sandbox)
        made.hold()
        return made

    def find(self, chat: str = "", *, task: str | None = None) -> "Conversation":
        """Return a conversation by its id; the newest one of the task if `chat` is "".

        Raises NotFound, and NoActiveTask if no task is named and none is current.
        """
        of_task = select(self.project, task)
        found = Chats(self.project.task_layout(of_task.id)).find(chat)
        return Conversation(self.project, of_task, found, by=self._by)

    def all(self, *, task: str | None = None) -> "list[Conversation]":
        """Return the conversations of a task, oldest first; those of every task for None."""
        tasks = [select(self.project, task)] if task else list(self.project.tasks.readable())
        return [
            Conversation(self.project, each, chat, by=self._by)
            for each in tasks
            for chat in Chats(self.project.task_layout(each.id)).all()
        ]

    def _require_installed(self, agent: str) -> None:
        path = self.project.app.env.get("PATH")
        if agent != OWN and shutil.which(agent, path=path) is None:
            raise UsageError(
                f"{agent} is not installed: there is no program {agent!r} on PATH",
                hint="install it, or name another agent",
            )


class Conversation:
    """One conversation. Nothing of it is kept here: each call looks at the story."""

    def __init__(
        self,
        project: Project,
        task: Task,
        chat: Chat,
        *,
        by: str,
        sandbox: SandboxRequest | None = None,
    ) -> None:
        self.project, self.task, self.chat = project, task, chat
        self._by, self._sandbox = by, sandbox

    @property
    def id(self) -> str:
        """Its id in its task: ``c1``."""
        return self.chat.id

    @property
    def talk(self) -> Talk:
        """Where it stands: its agent, its queue, what it asks, what it has used."""
        return self.chat.present()

    @property
    def standing(self) -> Standing:
        """What it is doing, as one word."""
        return self.talk.standing

    @property
    def workspace(self) -> Path:
        """The directory in which its agent works. Raises NotFound if the task has none."""
        found = self.project.registry.of_task(self.task.id)
        if found is None:
            raise NotFound(f"task {self.task.name!r} has no workspace")
        return Path(found.path)

    # -- Prompts -----------------------------------------------------------------------------------

    def prompt(
        self, words: str, *, pictures: Sequence[Picture] = (), on_ask: OnAsk | None = None
    ) -> Turn:
        """Give a prompt, and return when its turn has ended, after those that wait before it.

        What the agent asks meanwhile is put to a person, as ever, or to `on_ask`. When the host is
        killed, another one is started.
        """
        prompt = self.send(words, pictures=pictures)
        events: list[Event] = []
        text: list[str] = []
        end = PromptEnd(Outcome.FAILED)
        for event, found in self._until_end(prompt, on_ask):
            events.append(event)
            if event.get("event") == "text" and not event.get("inside"):
                text.append(str(event.get("text", "")))
            end = found or end
        return Turn(prompt, end.outcome, end.reason, "".join(text), tuple(events))

    def stream(
        self, words: str, *, pictures: Sequence[Picture] = (), on_ask: OnAsk | None = None
    ) -> Iterator[Event]:
        """Give a prompt, and yield the events of the story from it on, until its turn has ended."""
        prompt = self.send(words, pictures=pictures)
        for event, _end in self._until_end(prompt, on_ask):
            yield event

    def send(self, words: str, *, pictures: Sequence[Picture] = (), remembers: bool = False) -> str:
        """Queue a prompt, and return its id at once. It goes when the turns before have ended.

        After an undo its agent goes back to before the first turn that was undone, if it can; with
        `remembers` it is told instead.
        """
        by = self._by
        prompt = give(self.project, self.chat, words, by=by, pictures=pictures, remembers=remembers)
        self.hold()
        return prompt

    def steer(self, words: str, *, pictures: Sequence[Picture] = ()) -> str:
        """Give a prompt into the running turn; return its id. Raises UsageError if it cannot be.

        If the turn ends before the agent has taken it, it is the next prompt.
        """
        refuse_steer(self.chat)
        prompt = give(self.project, self.chat, words, by=self._by, pictures=pictures, steers=True)
        self.hold()
        return prompt

    @property
    def queue(self) -> tuple[Waiting, ...]:
        """The prompts that wait, the next one first."""
        return self.talk.queue

    def edit(self, prompt: str, words: str) -> None:
        """Change the words of a prompt that waits. Raises TooLate if it has gone."""
        self._change(EditPrompt(prompt, words), prompt)

    def move(self, prompt: str, *, before: str = "") -> None:
        """Put a prompt that waits before another one; last, if `before` is "". Raises TooLate."""
        self._change(MovePrompt(prompt, before), prompt)

    def drop(self, prompt: str) -> None:
        """Take a prompt that waits out of the queue. Raises TooLate if it has gone."""
        self._change(DropPrompt(prompt), prompt)

    def go_on(self) -> None:
        """Have prompts sent that are held, after a limit for example."""
        self._put(GoOn())

    # -- What is running ---------------------------------------------------------------------------

    def stop(self, *, waits: bool = True) -> None:
        """End the running turn, and drop the prompts that wait. The agent stays.

        Returns when the host has heard of it, or at once with ``waits=False``.
        """
        if waits:
            carried_out(self.project, self.task, self.chat, StopTurn(), by=self._by)
        else:
            self._put(StopTurn())

    def end(self) -> None:
        """End the agent when its turn has ended. The next prompt brings it back."""
        self._put(EndTalk())

    def hold(self) -> bool:
        """Start a host if there is none; tell whether one was started. Raises NotHeld."""
        return ensure_host(self.project, self.task, self.chat, self._sandbox, apart=True)

    def give_servers(self, servers: Sequence[McpServer]) -> bool:
        """Have the agent given these servers (MCP) at its next start, in place of those of before.

        Tell whether an agent is there that has others.
        """
        return keep_servers(self.chat, servers) and self.chat.has_host()

    def set(self, *, model: str = "", mode: str = "", effort: str = "") -> None:
        """Change what the agent works with. What holds then is an event, `applied`."""
        self._put(Change(model, mode, effort))

    def compact(self) -> None:
        """Have the agent make its conversation shorter."""
        self._put(Compact())

    @property
    def asks(self) -> tuple[OpenAsk, ...]:
        """What the agent waits for."""
        return self.talk.asks

    def answer(self, ask: str, reply: Reply) -> None:
        """Answer what the agent asks. Raises AlreadyClosed where somebody else was first.

        Raises NotFound for an ask that is not open, and InsideStep in a run: a person answers.
        """
        found = next((each for each in self.asks if each.ask == ask), None)
        if found is None or not found.decision:
            raise NotFound(f"conversation {self.id} does not ask {ask!r}")
        self.reply(found, reply)

    def reply(self, found: OpenAsk, reply: Reply) -> None:
        """Answer an ask that was put to a person. Raises AlreadyClosed, InsideStep, UsageError."""
        is_question = bool(found.questions)
        if is_question and not reply.allows:
            cancel_decision(self.project, found.decision, reason=reply.reason, via=Via.FLAG)
            return
        if is_question:
            answers = choices(found, reply.choices)
        else:
            always = scope_named(reply.always)
            answers = permission(found, allows=reply.allows, always=always, reason=reply.reason)
        answer_decision(self.project, found.decision, answers, via=Via.FLAG)

    # -- Its story ---------------------------------------------------------------------------------

    def events(self, *, since: int = 0) -> Iterator[Event]:
        """Yield the events that are there, after the one with this number."""
        return _numbered(told(self.chat), since)

    def follow(self, *, since: int = 0) -> Iterator[Event]:
        """Yield the events that are there and each new one, until nobody holds the agent."""
        return _numbered(followed(self.chat), since)

    def _until_end(
        self, prompt: str, on_ask: OnAsk | None
    ) -> Iterator[tuple[Event, PromptEnd | None]]:
        """Yield what happens from a prompt on, and with the last event how the prompt ended."""
        watch = Watch(self.chat)
        talk, is_told, starts = Talk(), False, 0
        ended_at = 0.0  # when the turn ended, while it is being recorded
        try:
            while True:
                watch.connect()
                for line in watch.records():
                    before, talk = talk, after(talk, line)
                    is_told = is_told or line.get("prompt") == prompt
                    if not is_told:
                        continue
                    found = end_in(line, before, talk)
                    end = found[1] if found is not None and found[0] == prompt else None
                    yield line, end
                    if end is not None:
                        ended_at = time.monotonic()
                    elif on_ask is not None and line.get("event") == "put":
                        self._reply(talk, str(line.get("ask")), on_ask)
                    if ended_at and line.get("event") in _OVER:
                        return
                if ended_at and time.monotonic() > ended_at + SETTLES_WITHIN_S:
                    return
                watch.wait(_LOOKS_EVERY_S)
                if not ended_at and not self.chat.has_host():
                    starts += 1
                    why = talk.trouble or "its agent ends each time that it is started"
                    if starts > _MOST_STARTS:
                        with suppress(TooLate):
                            self.drop(prompt)
                        yield {"event": "dropped", "prompt": prompt}, PromptEnd(Outcome.FAILED, why)
                        return
                    watch.let_go()
                    self.hold()
        finally:
            watch.close()

    def _reply(self, talk: Talk, ask: str, on_ask: OnAsk) -> None:
        found = next((each for each in talk.asks if each.ask == ask), None)
        reply = on_ask(found) if found is not None else None
        if found is not None and reply is not None:
            self.reply(found, reply)

    def _put(self, request: Request) -> None:
        put(self.project, self.chat, request, by=self._by)

    def _change(self, request: Request, prompt: str) -> None:
        if not carried_out(self.project, self.task, self.chat, request, by=self._by):
            raise TooLate(f"prompt {prompt} does not wait any more in conversation {self.id}")


def _numbered(lines: Iterator[bytes], since: int) -> Iterator[Event]:
    for line in lines:
        if number_of(line) > since:
            yield record_in(line)
