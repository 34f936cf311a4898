"""Hand a conversation over to the agent's own screen, and back.

The hold ends when the running turn has; what waits in the queue stays. Whoever shows the screen
holds the conversation's lock meanwhile, so nobody else holds the agent: two clients on one
conversation make two branches of it, each blind to the other. When that process is killed, the
screen ends with it (it is a run), and the next host finds in the story that it was handed over.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from siding.agents.talking.port import TALKING, Hold
from siding.chat.alone import held_alone, writing
from siding.chat.conversations import ensure_host, put, sandbox_in
from siding.chat.events import HandedBack, HandedOver, ScreenOpened
from siding.chat.handback import settle_handed_over, take_back
from siding.chat.outcome import work_off_in
from siding.chat.requests import HandOver, Stay
from siding.chat.state import after, folded
from siding.chat.store import Chat
from siding.chat.story import StoryReader
from siding.chat.switching import is_settled
from siding.chat.talk import Talk
from siding.chat.writer import StoryWriter
from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import words
from siding.record.place.project import Project
from siding.record.runs.run import Run
from siding.record.tasks.task import Task
from siding.running.request import RunRequest, RunResult
from siding.running.run import OnRunning

_LOOK_S = 0.02
_DESK_S = 0.2
Runs = Callable[[RunRequest, OnRunning], RunResult]


class Lives(SidingError):
    """What the agent has in the background would end with it."""

    code = "lives_in_background"


class Returned(NamedTuple):
    """How it was on the agent's own screen."""

    result: RunResult | None
    prompts: int
    is_held_again: bool


def stays_behind(talk: Talk) -> list[str]:
    """Return what does not come along when the agent is ended, as sentences."""
    found = [f"runs in the background, and ends: {each}" for each in talk.background]
    found += [f"was allowed for as long as the agent lives: {each}" for each in talk.always]
    return [*found, "what servers of its tools keep in memory"]


def refuse_living(whose: str, running: tuple[str, ...]) -> None:
    """Raise Lives if something runs in the background."""
    if running:
        raise Lives(
            f"the agent of {whose} has this running, which would end with it: {', '.join(running)}",
            hint="wait until it has ended, or end it with --force",
        )


def screen_of(project: Project, task: Task, talk: Talk) -> tuple[str, ...]:
    """Return the command line of the agent's own screen. Raises UsageError if there is none."""
    talking = TALKING.of(talk.agent)
    if talking is None or not talking.abilities.own_screen:
        names = [each for each in TALKING.agents if _has_screen(each)]
        raise UsageError(
            f"a conversation with {talk.agent} cannot be opened on a screen of its own",
            hint=f"it can with {', '.join(names)}; `siding chat show --follow` shows this one",
        )
    if not talk.kept_session:
        raise UsageError(
            f"{talk.agent} has said nothing in this conversation yet",
            hint="give it a prompt first: `siding chat send TEXT`",
        )
    workspace = project.registry.of_task(task.id)
    if workspace is None:
        raise UsageError(f"task {task.name!r} has no workspace", hint="`siding worktree add`")
    hold = Hold(
        program=talk.program,
        cwd=Path(workspace.path),
        env=project.app.env,
        options=talk.options,
        model=talk.model,
        mode=talk.mode,
        effort=talk.effort,
        session=talk.kept_session,
    )
    return talking.own_screen(hold)


def _has_screen(agent: str) -> bool:
    talking = TALKING.of(agent)
    return talking is not None and talking.abilities.own_screen


def refuse_on_screen(chat: Chat) -> None:
    """Raise UsageError if the conversation is on its agent's own screen now."""
    if chat.has_host():
        _refuse_on_screen(chat, chat.talk())


def _refuse_on_screen(chat: Chat, talk: Talk) -> None:
    if talk.is_handed_over:
        raise UsageError(
            f"{chat.id} is on the own screen of {talk.agent} (run {talk.run})",
            hint=f"`siding attach {talk.run}` shows it; leaving it there gives it back",
        )


def hand_over(
    project: Project, task: Task, chat: Chat, *, runs: Runs, by: str, forced: bool = False
) -> Returned:
    """Open the agent's own screen, and give the conversation back when it is closed.

    `runs` runs the screen in this terminal. Waits until the running turn has ended. Raises what
    refuses a run, UsageError, and Lives; the conversation goes on then as it was.
    """
    was_held = chat.has_host()
    is_held = False
    try:
        with freed(project, task, chat, forced=forced, by=by):
            result, back = _on_screen(project, task, chat, runs, by)
    finally:
        if was_held or chat.talk().queue:
            is_held = ensure_host(project, task, chat)
    return Returned(result, back.prompts, is_held)


def _on_screen(
    project: Project, task: Task, chat: Chat, runs: Runs, by: str
) -> tuple[RunResult | None, HandedBack]:
    result = None
    reason = "the screen could not be opened"
    with writing(project, chat) as story:
        talk = story.talk
        request = RunRequest(
            screen_of(project, task, talk),
            task=task.id,
            cwd=".",
            agent=talk.agent,
            sandbox=sandbox_in(talk),
            attended=True,
        )
        story.add(HandedOver(by), now=True)
        desk = _Desk(story, chat)
        try:
            result = runs(request, desk.opened)
            reason = ""
        finally:
            desk.close()
            ran = None if result is None or result.step is None else result.step.as_run
            back = take_back(project, story, None if ran is None else ran.reported, reason)
    return result, back


class _Desk:
    """Takes requests about what waits while the screen is open, and notes its run."""

    def __init__(self, story: StoryWriter, chat: Chat) -> None:
        self._story, self._chat = story, chat
        self._writing = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="siding: desk", daemon=True)
        self._thread.start()

    def opened(self, _task: Task, run: Run) -> None:
        with self._writing:
            self._story.add(ScreenOpened(run.id), now=True)

    def close(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _work(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._is_over.wait(_DESK_S)
            with self._writing, suppress(SidingError, OSError):
                work_off_in(self._story, self._chat)


# -- the hold ends ---------------------------------------------------------------------------------


@contextmanager
def freed(project: Project, task: Task, chat: Chat, *, forced: bool, by: str) -> Iterator[None]:
    """Have the host end its agent at the turn's end, and hold the conversation in its place."""
    while True:
        _end_hold(project, chat, forced=forced, by=by)
        lock = held_alone(project, chat, "the agent's own screen")
        if lock is None:
            continue  # somebody has it held again
        with lock:
            settle_handed_over(project, task, chat)
            talk = chat.talk()
            if is_settled(talk) and talk.switching is None:
                yield
                return
        ensure_host(project, task, chat)  # finds out what a killed host left


def _end_hold(project: Project, chat: Chat, *, forced: bool, by: str) -> None:
    """Wait until the host has ended the agent. Raises Lives, and UsageError."""
    if not chat.has_host():
        return
    reader = StoryReader(chat.story)
    try:
        talk = folded(reader.records())
        _refuse_on_screen(chat, talk)
        if not forced:
            refuse_living(chat.id, talk.background)
        kept = talk.kept
        put(project, chat, HandOver(forced), by=by)
        while chat.has_host():
            for record in reader.records():
                talk = after(talk, record)
                _refuse_on_screen(chat, talk)  # somebody else was faster
                if record.get("event") == "hosted":  # another agent, or after a kill
                    put(project, chat, HandOver(forced), by=by)
                if talk.kept > kept:
                    refuse_living(chat.id, words(record.get("running")))
            time.sleep(_LOOK_S)
    except BaseException:
        with suppress(OSError, SidingError):
            put(project, chat, Stay(), by=by)
        raise
    finally:
        reader.close()
