"""Make a conversation of a run that shows an agent's own screen: `siding run -- claude`.

The screen is ended at a turn's end; its session becomes that of a new conversation in the same
task, whose story begins with what was said on the screen. A kill in between leaves the run's step,
from which the same is done again; the conversation is there whole or not at all.
"""

import os
import shutil
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from siding.agents.table import BY_NAME, BY_PROGRAM
from siding.agents.talking.port import TALKING
from siding.chat.conversations import ensure_host
from siding.chat.earlier import earlier
from siding.chat.events import Began, Took
from siding.chat.handover import refuse_living
from siding.chat.store import Chat, Chats
from siding.chat.story import StoryReader
from siding.chat.writer import StoryWriter
from siding.ground.errors import NotFound, UsageError
from siding.ground.files.durable import flush_dir, make_dirs
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.ender import LeftTree
from siding.ground.process.procfs_details import command_line
from siding.ground.storage.fields import text
from siding.ground.storage.locks import FileLock
from siding.record.ledger.reports import SandboxReport
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.runs.reported import read_reported
from siding.record.runs.run import Run
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task
from siding.running.named_run import task_of_named
from siding.running.stop import step_of_run, stop
from siding.sandbox.request import SandboxRequest

_LOOK_S = 0.1
_PATIENCE_S = 10.0  # for somebody else who takes a run over
_OURS = str(Path(__file__).parents[1])

_NOT_ASKED = SandboxRequest()


class Screen(NamedTuple):
    """A run that can be taken over: one that lives, or has a step."""

    task: Task
    run: str
    agent: str
    program: tuple[str, ...]
    live: Run | None
    step: Step | None


class Taken(NamedTuple):
    """The conversation of a run. `is_new` is false if it was taken over before."""

    task: Task
    chat: Chat
    is_new: bool


def find_screen(project: Project, named: str | None, wanted: str) -> Screen:
    """Return the run that is meant; with "" the newest one of an agent.

    Raises NotFound and UsageError. Nothing is ended by it.
    """
    of = task_of_named(project, named, (wanted,) if wanted else (), ended=True)
    task = select(project, of)
    live = Runs(project.task_layout(task.id)).live()
    for run in reversed(live):
        if wanted in ("", run.id, run.name):
            found = _screen(task, run.id, run.agent or "", run.cmd, run, None)
            if wanted or not _why_not(project, found):
                return _required(project, found)
    for step in project.ledger(task.id).newest_first():
        ran = step.as_run
        if ran is not None and ran.run and wanted in ("", ran.run, ran.name):
            found = _screen(task, ran.run, "", ran.cmd, None, step)
            if wanted or not _why_not(project, found):
                return _required(project, found)
    what = f"no run {wanted!r}" if wanted else "no run of an agent"
    raise NotFound(
        f"there is {what} in task {task.name!r}", hint="`siding runs` shows those that live"
    )


def take(
    project: Project,
    screen: Screen,
    *,
    options: Sequence[str] = (),
    model: str = "",
    sandbox: SandboxRequest = _NOT_ASKED,
    by: str,
    forced: bool = False,
) -> Taken:
    """End the screen at its turn's end, and go on with its session in a conversation.

    What the sandbox was is kept, unless another one is asked for. Raises UsageError and Lives
    before anything is ended.
    """
    task = screen.task
    chats = Chats(project.task_layout(task.id))
    directory = project.task_layout(task.id).chats_dir
    make_dirs(directory)
    with FileLock(directory / "taking.lock").acquire(timeout_s=_PATIENCE_S):
        session = _session(project, screen)
        before = _taken_before(chats, screen.run, session)
        if before is not None:
            return Taken(task, before, is_new=False)
        step = screen.step
        if screen.live is not None:
            _await_end(project, screen, forced=forced)
            session = _session(project, screen)
            stop(project, task.id, [screen.run])
            step = step_of_run(project, task.id, screen.live)
        ran = None if step is None else step.as_run
        if ran is not None and ran.reported is not None:
            session = ran.reported.session or session
        chat = _begin(
            project,
            chats,
            screen,
            session,
            Began(screen.agent, screen.program, tuple(options), model, by),
        )
    if sandbox == _NOT_ASKED and ran is not None:
        sandbox = _asked_of(ran.sandbox)
    ensure_host(project, task, chat, sandbox)
    return Taken(task, chat, is_new=True)


def _screen(
    task: Task, run: str, agent: str, cmd: Sequence[str], live: Run | None, step: Step | None
) -> Screen:
    row = BY_NAME.get(agent) or BY_PROGRAM.get(os.path.basename(cmd[0]) if cmd else "")
    name = row.name if row is not None else ""
    return Screen(task, run, name, tuple(cmd[:1]), live, step)


def _required(project: Project, screen: Screen) -> Screen:
    why_not = _why_not(project, screen)
    if why_not:
        raise UsageError(f"run {screen.run} cannot go on as a conversation: {why_not}")
    return screen


def _why_not(project: Project, screen: Screen) -> str:
    """Return why a run cannot be taken over; "" if it can."""
    if TALKING.of(screen.agent) is None:
        return "it is of no agent that can be held"
    for chat in Chats(project.task_layout(screen.task.id)).all():
        if chat.has_host() and chat.talk().run == screen.run:
            return f"it is of conversation {chat.id} already"
    if not _session(project, screen):
        return "its agent has not said which conversation it is (was it to report?)"
    return ""


def _session(project: Project, screen: Screen) -> str:
    if screen.step is not None:
        ran = screen.step.as_run
        return "" if ran is None or ran.reported is None else ran.reported.session
    found = read_reported(project.task_layout(screen.task.id), screen.run)
    return "" if found is None else found.session


def _taken_before(chats: Chats, run: str, session: str) -> Chat | None:
    for chat in chats.all():
        talk = chat.talk()
        sessions = {talk.session, *(each.session for each in talk.parked)}
        if session in sessions or _was(chat) == run:
            return chat
    return None


def _was(chat: Chat) -> str:
    """Return the run that a conversation was before; "" for none."""
    reader = StoryReader(chat.story)
    try:
        second = next(islice(reader.records(), 1, 2), {})
    finally:
        reader.close()
    return text(second.get("run")) if second.get("event") == "took" else ""


# -- the screen ends -------------------------------------------------------------------------------


def _await_end(project: Project, screen: Screen, *, forced: bool) -> None:
    """Wait until no turn runs, or the run has ended. Raises Lives."""
    layout, live = project.task_layout(screen.task.id), screen.live
    assert live is not None
    while any(each.id == live.id for each in Runs(layout).live()):
        reported = read_reported(layout, live.id)
        if reported is None or not reported.in_turn:
            if not forced:
                refuse_living(f"run {live.id}", _in_background(project, live, screen.agent))
            return
        time.sleep(_LOOK_S)


def _in_background(project: Project, run: Run, agent: str) -> tuple[str, ...]:
    """Return what an agent has running beside its turns: commands in sessions of their own."""
    mark = (run.command.pid, run.command.started)
    living = LeftTree([mark], run.token).living()
    lines = {each.pid: command_line(each.pid) for each in living}
    programs = BY_NAME[agent].programs
    of_agent = {
        each.session
        for each in living
        if any(os.path.basename(word) in programs for word in lines[each.pid][:2])
    } or {each.session for each in living if each.pid == run.command.pid}
    left = {run.command.pid, run.keeper.pid, run.host.pid}
    return tuple(
        " ".join(project.redaction.words(lines[each.pid]) or [each.name])[:80]
        for each in living
        if each.pid not in left
        and each.session not in of_agent
        and each.session == each.pid  # what a shell has started is not named beside it
        and not any(word.startswith(_OURS) for word in lines[each.pid])
    )


# -- the conversation begins -----------------------------------------------------------------------


def _begin(project: Project, chats: Chats, screen: Screen, session: str, began: Began) -> Chat:
    """Make the conversation, whole, and give it its name last."""
    directory = project.task_layout(screen.task.id).chats_dir
    made = Chat(directory / ".taking")
    shutil.rmtree(made.directory, ignore_errors=True)  # of one that was killed
    made.directory.mkdir(mode=0o700)
    found = earlier(project, session)
    story = StoryWriter(project, made)
    try:
        story.add(began)
        story.add(Took(screen.run, session, found.left_out, began.by))
        for each in found.told:
            story.add(each)
    finally:
        story.close()
    made.kept.unlink(missing_ok=True)
    chat = chats.begin()
    os.rename(made.directory, chat.directory)
    flush_dir(directory)
    return chat


def _asked_of(report: SandboxReport | None) -> SandboxRequest:
    """Return a request for the sandbox that a run had."""
    if report is None or report.engine is None:
        return _NOT_ASKED
    profile = None if report.profile in BY_NAME else report.profile or None
    network = report.network or None
    return SandboxRequest(sandbox=True, profile=profile, network=network, hosts=report.hosts)
