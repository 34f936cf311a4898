"""The host of a conversation: holds its agent, takes requests, and writes its story.

It is a process of its own that outlives every viewer. It hosts the run that the agent is in, so the
run has its sandbox, its policy and its step as any other. When the host is killed, the run's keeper
ends the agent; the next host finds out from the agent's own record what it had taken.

A host that cannot go on says why in the story, ends the agent, and leaves no lock and no socket.
"""

import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from siding.agents.talking.port import (
    Answer,
    Event,
    Opened,
    Opening,
    Parts,
    TimedTalker,
    Trouble,
    Troubled,
)
from siding.chat.alarms import Alarms
from siding.chat.events import Ended, GoingBack, NotBack, Put
from siding.chat.events import Hosted as HostedLine
from siding.chat.failing import CannotHold, LastWords, hint_of, why, why_ended
from siding.chat.going_back import decided, present_of
from siding.chat.inbox import Inbox
from siding.chat.logins import missing_login
from siding.chat.machine import (
    Act,
    AwaitStop,
    CloseAgent,
    Interrupt,
    Machine,
    PutAsk,
    TellOfEnd,
    TellOfNone,
    TellOfPrompt,
    WithdrawAsk,
)
from siding.chat.moments import seconds_until
from siding.chat.notices import Notices
from siding.chat.opening import begun, request_of
from siding.chat.pictures import part_of
from siding.chat.settling import end_run, settle
from siding.chat.store import Chat
from siding.chat.story_text import untold_text
from siding.chat.talk import Lasting, Talk, Waiting
from siding.chat.turns import TurnRecorder
from siding.chat.viewers import Viewers
from siding.chat.writer import StoryWriter
from siding.ground.errors import SidingError
from siding.ground.process.identity import started_of
from siding.record.place.project import Project
from siding.record.place.task_workspace import require_workspace
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task
from siding.record.workspaces.recovery import recover_cut_off
from siding.running.hosting import Hosted, InputClosed, Printed, RunEvent, host
from siding.running.news import News
from siding.running.request import RunRequest

if TYPE_CHECKING:
    from siding.chat.waiter import Waiter

# Before it is ready.
_HOPELESS = frozenset({Trouble.NO_SESSION, Trouble.NOT_BACK, Trouble.LOGIN, Trouble.TRUST})
_CLOCK_S = 60.0  # between looks at what wakes nobody: the clock, the directory
_ENDS_WITHIN_S = 5.0  # what an agent has to end by itself
_OPENS_WITHIN_S = 30.0  # after which it is said that it has not
_HELD_WITHIN_S = 3.0  # for so long whoever started it waits until it is ready
_STOPS_WITHIN_S = 10.0
_LAST_STATUS = 127  # of a program that has ended by itself


class Host:
    """One conversation and its agent, from the agent's start to its end.

    `on_held` is called once, when the agent is ready, or works at it for a while.
    """

    # What there is from some point of `_hold_agent` on.
    _machine: Machine
    _hosted: Hosted
    _turns: TurnRecorder
    _viewers: Viewers

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
        self._on_held: Callable[[Talk], None] | None = on_held
        self._layout = project.task_layout(task.id)
        try:
            self._writer = StoryWriter(project, chat)
        except OSError as error:
            about = f"the story of conversation {chat.id} cannot be read: {error}"
            raise CannotHold(about) from error
        self._notices = Notices(project, task, chat.id)
        self._inbox = Inbox()
        self._alarms = Alarms()
        self._words = LastWords()  # what the agent prints beside its protocol
        self._waiters: dict[str, Waiter] = {}
        self._cleanup = ExitStack()
        self._cleanup.callback(self._inbox.close)
        self._cleanup.callback(self._writer.close)
        self._quiet_since: float | None = None
        self._has_machine = False
        self._has_run = False
        self._never_opens = ""  # why not, as the agent says
        self._is_closing = False
        self._is_ended = False

    # -- from its start to its end -----------------------------------------------------------------

    def serve(self) -> bool:
        """Hold the agent until it has ended; tell whether a prompt came too late for it.

        Raises CannotHold if the agent was never ready, or the host failed: the story says why.
        """
        try:
            self._hold_agent()
        except BaseException as error:
            reason = why(error)
            self._give_up(reason)
            raise CannotHold(reason, hint=hint_of(error)) from error
        finally:
            self._close()
        if not (self.was_held or self._is_closing or self._machine.goes_on):
            raise CannotHold(self._writer.talk.trouble)
        return self._machine.goes_on

    @property
    def was_held(self) -> bool:
        """Whether `on_held` was called."""
        return self._on_held is None

    @property
    def is_for_screen(self) -> bool:
        """Whether the agent has ended because its own screen is to be opened."""
        return self._has_machine and self._machine.hands_over is not None

    def settle(self) -> None:
        """Find out what became of what a killed host had sent, and start nothing."""
        try:
            self._settled()
        finally:
            self._close()

    def _settled(self) -> Opening:
        opening = self._opening(self._writer.talk._replace(back=None))
        end_run(self._project, self._task, self._writer.talk.run)
        recover_cut_off(self._project)
        self._use(opening)
        self._settle("its host was killed")
        if self._writer.talk.back is not None:  # only now: a prompt may have been taken there
            opening = self._opening(self._writer.talk)
            self._use(opening)
        return opening

    def _use(self, opening: Opening) -> None:
        self._talker, self._hears_errors = opening.talker, opening.hears_errors
        self._machine = Machine(self._writer.talk, opening.talker, self._writer.add, self._parts_of)
        self._has_machine = True

    def _hold_agent(self) -> None:
        opening = self._settled()
        self._viewers = Viewers(self._chat.socket)
        self._cleanup.callback(self._viewers.close)
        self._writer.on_grown = self._viewers.grown
        agent = self._writer.talk.agent
        request = request_of(self._request, opening, agent, self._chat)
        self._hosted = host(self._project, request, observe=self._observe)
        self._has_run = True
        self._began = self._hosted.began()
        self._quiet_since = time.monotonic()
        given = tuple(each.name for each in self._agent.hold.servers)
        hosted = HostedLine(self._began.run.id, self._agent.hold.goes_on_from(), given)
        self._machine.talk = self._writer.add(hosted, now=True)
        no_login = missing_login(agent, self._agent.hold, request.env)
        for trouble in (*self._agent.left_out, *no_login):
            self._machine.talk = self._writer.add(trouble)
        self._turns = TurnRecorder(self._project, self._task, self._began.run)
        self._cleanup.callback(self._turns.close)
        self._hosted.result.when_kept(lambda _result: self._inbox.put(self._over))
        self._alarms.set("held", _HELD_WITHIN_S, self._held_late)
        self._alarms.set("opens", _OPENS_WITHIN_S, self._opens_late)
        self._look_around()
        self._loop()

    def _opening(self, talk: Talk) -> Opening:
        self._workspace = Path(require_workspace(self._project, self._task).path)
        env, new_id = self._project.app.env, self._new_id()
        self._agent = begun(self._chat, talk, self._workspace, env, new_id)
        opening = self._agent.opening
        if opening.why_not and talk.back is not None:
            stays = NotBack(talk.back.session, talk.back.before, opening.why_not)
            return self._opening(self._writer.add(stays, now=True))
        if opening.why_not:
            raise CannotHold(opening.why_not)
        self._chat.lay_out(opening.files)
        return opening

    def _settle(self, reason: str) -> None:
        self._writer.flush()
        self._machine.talk = self._writer.talk
        settle(self._machine, self._chat, self._agent.talking, self._agent.hold, reason)
        if self._machine.talk.is_held_by_host and not self._has_run:
            self._machine.ended(None, reason)

    def _loop(self) -> None:
        self._take_requests()
        self._send()
        while not (self._is_ended and not self._inbox):
            self._viewers.tell()
            if self._writer.keep():
                self._notices.look(self._writer.talk)
            self._await_silence()
            self._await_limit()
            ready = self._inbox.wait(self._viewers.fds, self._alarms.next_ms)
            self._viewers.serve(ready)
            for work in self._inbox.take():
                work()
            self._take_requests()
            self._alarms.ring()
            self._send()

    def _give_up(self, reason: str) -> None:
        """End the agent, and say why in the story. Nothing here may hide the first error."""
        self._inbox.let_pass()
        if self._has_run and not self._is_ended:
            self._hosted.cancel(now=True)
            with suppress(BaseException):
                self._hosted.wait()
        with suppress(OSError, SidingError):
            if self._has_machine:
                self._settle(reason)
            self._writer.keep_prompts()
            self._writer.add(Ended(None, reason), now=True)

    def _close(self) -> None:
        self._inbox.let_pass()
        self._notices.close(self._writer.talk)
        for waiter in self._waiters.values():
            waiter.withdraw("the conversation's agent has ended")
        for waiter in self._waiters.values():
            waiter.join()
        with suppress(OSError):
            self._cleanup.close()

    # -- the agent ---------------------------------------------------------------------------------

    def _observe(self, event: RunEvent) -> None:
        """Take what the run says; called in the run's thread."""
        if isinstance(event, Printed):
            is_beside = event.is_stderr and not self._hears_errors
            data, hears = event.data, self._words.add if is_beside else self._heard
            self._inbox.put(lambda: hears(data), size=len(data))

    def _heard(self, data: bytes) -> None:
        if not self._machine.talk.is_open:
            self._words.add(data)
        self._quiet_since = time.monotonic()
        self._hear(self._talker.receive(data))

    def _hear(self, events: list[Event]) -> None:
        self._machine.heard(events)
        if any(isinstance(each, Opened) for each in events):
            self._words = LastWords()
            self._alarms.clear("opens")
            self._held()
        elif not self._machine.talk.is_open and not self._never_opens:
            for each in events:
                if isinstance(each, Troubled) and each.trouble in _HOPELESS:
                    self._end_useless(each)

    def _end_useless(self, troubled: Troubled) -> None:
        """End an agent that will never be ready, as it says."""
        self._never_opens = troubled.message
        talk = self._machine.talk
        is_there = talk.session and talk.back is None
        if troubled.trouble is Trouble.NO_SESSION and is_there and not talk.taken:
            self._machine.begins_anew()  # nothing was said yet: some keep such a one nowhere
        self._hosted.cancel(now=True)

    def _held(self) -> None:
        """Let whoever has started it go on."""
        self._alarms.clear("held")
        on_held, self._on_held = self._on_held, None
        if on_held is not None:
            on_held(self._writer.talk)

    def _held_late(self) -> None:
        run = Runs(self._layout).find(self._began.run.id)
        if run is not None and started_of(run.command.pid) == run.command.started:
            self._held()
        else:  # it has ended, and is being recorded
            self._alarms.set("held", _HELD_WITHIN_S, self._held_late)

    def _opens_late(self) -> None:
        said = str(self._words)
        more = f"; it has printed: {said}" if said else ", and has printed nothing"
        message = f"it has not said for {_OPENS_WITHIN_S:.0f} s that it is ready{more}"
        self._hear([Troubled(Trouble.OTHER, message)])

    def _over(self) -> None:
        """The agent has ended, and its run is recorded."""
        exit_code: int | None = None
        reason = ""
        was_ready = self._machine.talk.is_open
        error = self._hosted.result.error
        if error is not None:
            reason = why(error)
        else:
            result = self._hosted.wait()
            exit_code = result.exit_code
            if not self._is_closing:
                ended = why_ended(result, str(self._words), was_ready=was_ready)
                reason = self._never_opens or ended
        self._settle(f"its agent ended{': ' if reason else ''}{reason}")
        self._machine.ended(exit_code, reason)
        failed = self._never_opens or 0 < (exit_code or 0) <= _LAST_STATUS
        if failed and not (was_ready or self._is_closing):
            self._stay_there(reason)
        self._is_ended = True

    def _stay_there(self, reason: str) -> None:
        """Go on with the conversation as it was, if the agent did not begin where it was to."""
        back = self._machine.talk.back
        if back is not None:
            self._machine.stays(NotBack(back.session, back.before, reason))
            self._machine.goes_on = True

    def _send(self) -> None:
        """Give the agent what its talker wants to say, and do what the machine wants done."""
        while True:
            # What a talker makes of what it was told, without a word of the agent.
            self._hear(self._talker.receive(b""))
            data = self._talker.to_send()
            if data:
                self._quiet_since = time.monotonic()
                with suppress(InputClosed), self._inbox.passing():
                    self._hosted.send(data)
            acts = self._machine.acts()
            for act in acts:
                self._do(act)
            if not data and not acts:
                return

    def _do(self, act: Act) -> None:
        match act:
            case TellOfPrompt(waiting):
                can = self._talker.abilities.goes_back
                present = present_of(self._machine.talk, waiting, can=can)
                self._turns.prompt(present, waiting, self._ready)
            case TellOfNone():
                self._turns.taken_back(self._recorded)
            case TellOfEnd(how):
                self._turns.ended(self._machine.talk, how, self._recorded)
            case PutAsk(asked):
                from siding.chat.waiter import Asking, Waiter

                run, agent = self._began.run.id, self._machine.talk.agent
                self._waiters[asked.ask] = Waiter(
                    self._project,
                    self._task,
                    self._chat,
                    Asking(run, agent, self._workspace),
                    asked,
                    on_put=self._on_put,
                    on_answer=self._on_answer,
                )
            case WithdrawAsk(ask):
                waiter = self._waiters.pop(ask, None)
                if waiter is not None:
                    waiter.withdraw("the agent no longer waits for it")
            case Interrupt():
                self._hosted.interrupt()
            case AwaitStop():
                self._alarms.set("stops", _STOPS_WITHIN_S, self._machine.stop_is_late)
            case CloseAgent(now):
                self._is_closing = True
                self._held()
                if now:
                    self._hosted.cancel()
                else:
                    self._hosted.end_input()
                    self._alarms.set("ends", _ENDS_WITHIN_S, self._hosted.cancel)

    def _ready(self, told: News) -> None:
        self._inbox.put(lambda: self._prompt(told))

    def _prompt(self, told: News) -> None:
        """Give the agent the prompt; with the first one what it has not heard of. If it is to go
        back first, the next host does so."""
        talk, going, news = self._machine.talk, self._machine.going, told.text
        if going is not None and told.place is not None:
            found = decided(self._chat, talk, self._agent.talking, self._agent.hold, told.place)
            if isinstance(found, GoingBack):
                self._machine.goes_back(found)
                return
            if found is not None:
                self._machine.stays(found)
        if going is not None and talk._replace(sent=going).is_told_with(going):
            story = untold_text(self._project, self._task, self._chat, talk)
            news = "\n\n".join(filter(None, (story, news)))
        self._machine.ready(news)

    def _recorded(self, step: int) -> None:
        machine = self._machine
        self._inbox.put(lambda: machine.recorded(step))

    def _on_put(self, put: Put) -> None:
        machine = self._machine
        self._inbox.put(lambda: machine.put(put))

    def _on_answer(self, ask: str, answer: Answer, by: str, lasting: Lasting) -> None:
        machine = self._machine
        self._inbox.put(lambda: machine.answered(ask, answer, by, lasting))

    def _await_limit(self) -> None:
        """Go on with what waits once the limit is over for which it is held."""
        until = self._machine.talk.until
        if until:
            left_s = seconds_until(until, self._project.app.clock.now())
            act = self._look_at_clock if left_s else self._machine.waited
            self._alarms.set("limit", min(left_s, _CLOCK_S), act)
        else:
            self._alarms.clear("limit")

    def _look_around(self) -> None:
        """Have the loop look from time to time whether the conversation is at its place."""
        self._alarms.set("place", _CLOCK_S, self._look_around)

    def _look_at_clock(self) -> None:
        """The machine may have slept: the loop looks again."""

    def _await_silence(self) -> None:
        """Tell a talker without a clock when its agent has said nothing for so long."""
        talker, since = self._talker, self._quiet_since
        quiet_s = talker.quiet_s if isinstance(talker, TimedTalker) else None
        if quiet_s is None or since is None:
            self._alarms.clear("quiet")
        else:
            self._alarms.set("quiet", since + quiet_s - time.monotonic(), self._tell_quiet)

    def _tell_quiet(self) -> None:
        self._quiet_since = None
        assert isinstance(self._talker, TimedTalker)
        self._hear(self._talker.quiet())

    # -- requests and the story --------------------------------------------------------------------

    def _take_requests(self) -> None:
        if not self._writer.is_at_its_place():
            raise CannotHold("the directory of this conversation was moved or removed")
        waiting = self._chat.requests.waiting()
        for asked in waiting:
            if asked.id not in self._writer.done:  # else a host was killed right then
                self._machine.asked_for(asked)
        if waiting:
            for act in self._machine.acts():  # the workspace is looked at while the disk works
                self._do(act)
            self._writer.take_away(waiting)

    def _parts_of(self, waiting: Waiting) -> Parts:
        pictures = [part_of(self._chat.files / name) for name in waiting.files]
        return (waiting.said(self._chat.prompt(waiting.prompt)), *pictures)

    def _new_id(self) -> str:
        return str(uuid.UUID(bytes=self._project.app.random_bytes(16), version=4))
