"""The host of a conversation: holds its agent, takes requests, and writes its story.

It is a process of its own that outlives every viewer. It hosts the run that the agent is in, so the
run has its sandbox, its policy and its step as any other. When the host is killed, the run's keeper
ends the agent; the next host finds out from the agent's own record what it had taken.
"""

import os
import select
import time
import uuid
from _socket import socket
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from siding.agents.talking.port import (
    TALKING,
    Answer,
    Evidence,
    Hold,
    Opening,
    Parts,
    Picture,
    PromptTaken,
    Proof,
    Sent,
    Talking,
    TimedTalker,
)
from siding.chat.events import Dropped, Edited, Proven, Queued, record_of
from siding.chat.events import Hosted as HostedLine
from siding.chat.machine import (
    CloseAgent,
    Machine,
    PutAsk,
    TellOfEnd,
    TellOfPrompt,
    WithdrawAsk,
)
from siding.chat.state import Talk, Waiting, after
from siding.chat.store import Chat
from siding.chat.story import Story, StoryReader
from siding.chat.story_text import told_text
from siding.chat.turns import TurnRecorder
from siding.chat.waiter import Waiter
from siding.ground.errors import SidingError
from siding.ground.files.durable import create_bytes, make_dirs
from siding.ground.files.regular import read_bytes
from siding.ground.process.control.frames import accept_from, listen_at
from siding.record.ledger.turns import reported_turns
from siding.record.ledger.usage import UsedTokens
from siding.record.place.project import Project
from siding.record.tasks.task import Task
from siding.record.workspaces.recovery import recover_cut_off
from siding.running.hosting import InputClosed, Printed, RunEvent, host
from siding.running.request import RunRequest

_READ = 4096
_MOST_VIEWERS = 64
_LARGEST_PICTURE = 32 << 20
_ENDS_WITHIN_S = 5.0  # what an agent has to end by itself


class CannotHold(SidingError):
    """The agent cannot be held over a protocol of its own."""

    code = "cannot_hold"


class Host:
    """One conversation and its agent, from the agent's start to its end."""

    def __init__(
        self,
        project: Project,
        task: Task,
        chat: Chat,
        *,
        request: RunRequest,
        on_held: Callable[[Talk], None],
    ) -> None:
        self._project, self._task, self._chat = project, task, chat
        self._request = request
        self._on_held = on_held
        self._story = Story(chat.story)
        self.talk, self._done = chat.talk_and_done()
        found = TALKING.of(self.talk.agent)
        if found is None:
            raise CannotHold(f"nobody has said how {self.talk.agent!r} is held")
        self._talking: Talking = found
        workspace = project.registry.of_task(task.id)
        if workspace is None:
            raise CannotHold(f"task {task.name!r} has no workspace")
        self._workspace = Path(workspace.path)
        self._wake, self._woken = os.pipe()
        for fd in (self._wake, self._woken):
            os.set_blocking(fd, False)
        self._said: deque[Callable[[], None]] = deque()  # what other threads have the loop do
        self._viewers: dict[int, socket] = {}
        self._waiters: dict[str, Waiter] = {}
        self._closing_since: float | None = None
        self._quiet_since: float | None = None
        self._ended = False

    # -- from its start to its end -----------------------------------------------------------------

    def serve(self) -> bool:
        """Hold the agent until it has ended; tell whether its own screen is to be opened."""
        opening = self.settle()
        self._listener = listen_at(self._chat.socket)
        env = {**self._request.env, **opening.env}
        request = self._request._replace(argv=opening.argv, env=env, agent=self.talk.agent)
        self._hosted = host(self._project, request, observe=self._observe)
        try:
            self._began = self._hosted.began()
            self._machine.talk = self._add(
                HostedLine(self._began.run.id, self._hold.goes_on_from()), now=True
            )
            self._turns = TurnRecorder(self._project, self._task, self._began.run)
            self._hosted.future.add_done_callback(lambda _future: self._soon(self._over))
            self._on_held(self.talk)
            self._loop()
            self._turns.close()
            return self._machine.hands_over
        finally:
            self._close()

    def settle(self) -> Opening:
        """Find out what became of what was on its way when the last host was killed."""
        recover_cut_off(self._project)  # what it left is ended before the agent's record is read
        opening = self._opening()
        self._machine = Machine(self.talk, opening.talker, self._add, self._parts_of)
        self._talker = opening.talker
        self._settle("its host was killed")
        return opening

    def _opening(self) -> Opening:
        talk = self.talk
        directory = self._chat.directory / "agent"
        make_dirs(directory)
        self._hold = Hold(
            program=talk.program,
            cwd=self._workspace,
            env=self._project.app.env,
            directory=str(directory),
            options=talk.options,
            model=talk.model,
            session=talk.session,
            new_session="" if talk.session else str(uuid.UUID(bytes=self._random(16), version=4)),
        )
        opening = self._talking.opened(self._hold)
        if opening.why_not:
            raise CannotHold(opening.why_not)
        for name, content in opening.files.items():
            (directory / name).unlink(missing_ok=True)
            create_bytes(directory / name, content.encode())
        return opening

    def _settle(self, reason: str) -> None:
        """Find out what became of a prompt that was on its way when the agent ended."""
        talk = self._machine.talk
        open_ones = [each for each in (talk.sent, *talk.steered) if each is not None]
        if open_ones and self._talking.settles_s:
            time.sleep(self._talking.settles_s)
        for each in open_ones:
            if talk.sent is each and talk.is_taken:
                continue
            self._machine.proven(each.prompt, self._proof(each))
        self._machine.cut_off(reason)
        if talk.is_held_by_host:
            self._machine.ended(None, reason)

    def _proof(self, prompt: Waiting) -> Proof:
        talk = self._machine.talk
        sent = Sent(prompt.prompt, prompt.text, talk.taken, talk.session)
        by_text = self._talking.abilities.evidence is not Evidence.ID
        if by_text and talk.is_told_with(prompt):
            # Agents write down the story before it and the prompt as one text, each in its way.
            return Proof.UNSURE
        return self._talking.proof(sent, self._hold)

    def _loop(self) -> None:
        self._take_requests()
        self._send()
        while not (self._ended and not self._said):
            poller = select.poll()
            for fd in (self._wake, self._listener.fileno(), *self._viewers):
                poller.register(fd, select.POLLIN)
            ready = {fd for fd, _ in poller.poll(self._next_ms())}
            self._serve_sockets(ready)
            if self._wake in ready:
                with suppress(BlockingIOError):
                    os.read(self._wake, _READ)
            while self._said:
                self._said.popleft()()
            self._take_requests()
            self._listen_to_silence()
            self._send()
            self._end_slow()

    def _close(self) -> None:
        for waiter in self._waiters.values():
            waiter.withdraw("the conversation's agent has ended")
        for waiter in self._waiters.values():
            waiter.join()
        for viewer in self._viewers.values():
            viewer.close()
        self._chat.socket.unlink(missing_ok=True)
        self._listener.close()
        self._story.close()

    # -- the agent ---------------------------------------------------------------------------------

    def _observe(self, event: RunEvent) -> None:
        """Take what the run says; called in the run's thread."""
        if isinstance(event, Printed) and not event.is_stderr:
            data = event.data
            self._soon(lambda: self._heard(data))

    def _heard(self, data: bytes) -> None:
        self._quiet_since = time.monotonic()
        self._machine.heard(self._talker.receive(data))

    def _over(self) -> None:
        """The agent has ended, and its run is recorded."""
        exit_code, reason = None, ""
        try:
            result = self._hosted.wait()
            exit_code = result.exit_code
            reason = (result.outcome.reason or "") if result.outcome is not None else ""
        except BaseException as error:  # noqa: BLE001 - it is said in the story
            reason = str(error)
        self._settle("its agent ended")
        self._machine.ended(exit_code, reason)
        self._ended = True

    def _send(self) -> None:
        """Give the agent what its talker wants to say, and do what the machine wants done."""
        while True:
            # What a talker makes of what it was told, without a word of the agent.
            self._machine.heard(self._talker.receive(b""))
            data = self._talker.to_send()
            if data:
                self._quiet_since = time.monotonic()
                with suppress(InputClosed):
                    self._hosted.send(data)
            acts = self._machine.acts()
            for act in acts:
                self._do(act)
            if not data and not acts:
                return

    def _do(self, act: Any) -> None:
        session = self._machine.talk.session
        match act:
            case TellOfPrompt(waiting):
                self._turns.prompt(session, waiting, self._told)
            case TellOfEnd(how):
                self._turns.ended(session, how, self._used(), self._told)
            case PutAsk(asked):
                self._waiters[asked.ask] = Waiter(
                    self._project,
                    self._task,
                    self._began.run.id,
                    self._machine.talk.agent,
                    asked,
                    workspace=self._workspace,
                    on_put=lambda ask, decision: self._soon(
                        lambda: self._machine.put(ask, decision)
                    ),
                    on_answer=self._on_answer,
                )
            case WithdrawAsk(ask):
                waiter = self._waiters.pop(ask, None)
                if waiter is not None:
                    waiter.withdraw("the agent no longer waits for it")
            case CloseAgent():
                self._closing_since = time.monotonic()
                self._hosted.end_input()

    def _used(self) -> dict[str, UsedTokens]:
        """What the turn has used, as the agent has said."""
        talk = self._machine.talk
        if not (talk.input_tokens or talk.output_tokens):
            return {}
        used = UsedTokens(input=talk.input_tokens, output=talk.output_tokens)
        return {talk.model or talk.agent: used}

    def _told(self) -> None:
        self._soon(self._machine.told)

    def _on_answer(self, ask: str, answer: Answer, by: str) -> None:
        self._soon(lambda: self._machine.answered(ask, answer, by))

    def _soon(self, work: Callable[[], None]) -> None:
        """Have the loop do something; called in any thread."""
        self._said.append(work)
        with suppress(BlockingIOError, OSError):
            os.write(self._woken, b"x")

    def _next_ms(self) -> float | None:
        """When the loop has something to do though nothing happens; None for never."""
        due = [] if self._closing_since is None else [self._closing_since + _ENDS_WITHIN_S]
        quiet_s = self._quiet_s()
        if quiet_s is not None and self._quiet_since is not None:
            due.append(self._quiet_since + quiet_s)
        return max(0.0, min(due) - time.monotonic()) * 1000 + 1 if due else None

    def _quiet_s(self) -> float | None:
        return self._talker.quiet_s if isinstance(self._talker, TimedTalker) else None

    def _listen_to_silence(self) -> None:
        """Tell a talker without a clock that its agent has said nothing for so long."""
        quiet_s, since = self._quiet_s(), self._quiet_since
        if quiet_s is None or since is None or time.monotonic() < since + quiet_s:
            return
        self._quiet_since = None
        assert isinstance(self._talker, TimedTalker)
        self._machine.heard(self._talker.quiet())

    def _end_slow(self) -> None:
        """End an agent by its tree that does not end when its input does."""
        since = self._closing_since
        if since is not None and time.monotonic() >= since + _ENDS_WITHIN_S:
            self._closing_since = None
            self._hosted.cancel()

    # -- requests, viewers, the story --------------------------------------------------------------

    def _take_requests(self) -> None:
        for asked in self._chat.requests.waiting():
            if asked.id not in self._done:  # else a host was killed right then
                self._machine.asked_for(asked)
            self._chat.requests.done(asked.id)

    def _serve_sockets(self, ready: set[int]) -> None:
        for fd in ready & self._viewers.keys():
            try:
                gone = not self._viewers[fd].recv(_READ)
            except BlockingIOError:
                gone = False
            except OSError:
                gone = True
            if gone:
                self._viewers.pop(fd).close()
        if self._listener.fileno() in ready:
            with suppress(OSError):
                viewer = accept_from(self._listener)
                if viewer is not None and len(self._viewers) < _MOST_VIEWERS:
                    self._viewers[viewer.fileno()] = viewer

    def _add(self, event: Any, request: str = "", *, now: bool = False) -> Talk:
        record: Mapping[str, Any] = {
            "seq": self.talk.seq + 1,
            "at": self._project.app.now(),
            **record_of(event),
            **({"request": request} if request else {}),
        }
        kept = self._project.redaction.record(record)
        if isinstance(event, Queued | Edited) and kept["text"] != event.text:
            self._chat.keep_prompt(event.prompt, event.text)
        self._story.add(kept, now=now)
        if isinstance(event, Dropped | PromptTaken | Proven):
            self._chat.forget_prompt(event.prompt)
        self.talk = after(self.talk, kept)
        for viewer in self._viewers.values():
            with suppress(OSError):
                viewer.send(b".")  # one that has unread ones will look anyway
        return self.talk

    def _parts_of(self, waiting: Waiting) -> Parts:
        pictures = [self._picture(name) for name in waiting.files]
        told = self._story_text() if self.talk.is_told_with(waiting) else ""
        parts: Parts = (self._chat.prompt(waiting.prompt) or waiting.text, *pictures)
        return (told, *parts) if told else parts

    def _story_text(self) -> str:
        """Return what the agent has not heard of the conversation, as a text."""
        turns = reported_turns(self._project.ledger(self._task.id).steps())
        undone = frozenset(each.detail.turn for each in turns if not each.stands)
        reader = StoryReader(self._chat.story)
        try:
            return told_text(
                reader.records(),
                behind=self.talk.knows,
                until=self.talk.untold,
                clean=self._project.redaction.text,
                undone=undone,
            )
        finally:
            reader.close()

    def _picture(self, name: str) -> Picture:
        path = self._chat.files / name
        kind = "image/" + path.suffix.removeprefix(".").replace("jpg", "jpeg")
        return Picture(kind, read_bytes(path, limit=_LARGEST_PICTURE), str(path))

    def _random(self, count: int) -> bytes:
        return self._project.app.random_bytes(count)
