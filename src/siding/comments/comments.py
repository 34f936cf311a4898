"""Comments on a task's change: write one, find them again in the present text, resolve, send.

A comment is of Siding and not of a screen: terminal, browser, scripts and agents read the same.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Protocol

from siding.agents.hooks import ADAPTER, Takes
from siding.comments.comment import Comment, Placed, Side, State, as_prompt
from siding.comments.handing import prove, sent, waiting
from siding.comments.placing import lines_of, placed, present_text
from siding.comments.store import Comments
from siding.ground.errors import NotFound, SidingError, UsageError, counted
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import LockBusy
from siding.record.ledger.run_details import RunDetail
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import require_workspace
from siding.record.recording.named_paths import below_workspace
from siding.record.runs.reported import read_reported
from siding.record.runs.run import Run
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task
from siding.running.attach import require_terminal, send

_LONGEST = 20_000  # characters of what is said


class Wanted(NamedTuple):
    """Which lines are meant: `path` as it was typed, lines from 1 on."""

    path: str
    first: int
    last: int
    side: Side = Side.NEW


class Way(StrEnum):
    """How comments reach an agent."""

    TYPED = "typed"  # into its terminal, now
    AT_END = "at-end"  # by its hooks, as its next prompt when its turn ends
    WITH_PROMPT = "with-prompt"  # by its hooks, with its next prompt
    QUEUED = "queued"  # into the queue of its conversation, now
    BY_YOU = "by-you"  # the prompt is printed, and copied

    @property
    def words(self) -> str:
        """When and how an agent gets them."""
        return _WORDS[self]


_NOW = (Way.TYPED, Way.QUEUED)
_WORDS = {
    Way.TYPED: "now, typed into its terminal",
    Way.AT_END: "as its next prompt, when its turn ends",
    Way.WITH_PROMPT: "with its next prompt",
    Way.QUEUED: "as its next prompt, in the queue of its conversation",
    Way.BY_YOU: "by you: the prompt is printed, and copied",
}


class Conversations(Protocol):
    """The agents of a project that conversations hold. They are above this room."""

    def chat_of(self, task_id: TaskId, run: str, /) -> str:
        """Return the conversation that holds the agent of a run; "" if none does."""

    def give(self, task_id: TaskId, chat: str, prompt: str, /) -> None:
        """Put a prompt into the queue of a conversation."""


class Taker(NamedTuple):
    """An agent that lives in a task and can be given comments, and how."""

    run: Run
    way: Way

    @property
    def name(self) -> str:
        """How `--to` names it."""
        return self.run.name or self.run.id


class Sent(NamedTuple):
    """What was sent, or is to be: the prompt, its comments, and how.

    `run` is the one that is given them; None if there is none.
    """

    task: Task
    prompt: str
    comments: tuple[Comment, ...]
    run: Run | None
    way: Way = Way.BY_YOU


def place_of(text: str, *, side: Side) -> Wanted:
    """Return what ``PATH:LINE`` or ``PATH:FIRST-LAST`` means. Raises UsageError."""
    path, colon, lines = text.rpartition(":")
    first, dash, last = lines.partition("-")
    if not (path and colon and first.isdecimal() and (last.isdecimal() or not dash)):
        raise UsageError(
            f"{text!r} names no lines", hint="PATH:LINE or PATH:FIRST-LAST, such as src/a.py:12-14"
        )
    wanted = Wanted(path, int(first), int(last or first), side)
    if not 1 <= wanted.first <= wanted.last:
        raise UsageError(f"there are no lines {lines}", hint="they count from 1 on")
    return wanted


def add(project: Project, named: str | None, wanted: Wanted, said: str) -> tuple[Task, Placed]:
    """Write a comment. Raises UsageError, NotFound, NotText; then nothing is kept."""
    task = select(project, named)
    said = _said(said)
    workspace = require_workspace(project, task)
    path = os.fsdecode(below_workspace(project, workspace, wanted.path))
    raw = present_text(project, task, path, wanted.side)
    if raw is None:
        before = " before the change" if wanted.side is Side.OLD else ""
        raise NotFound(f"there is no file {path!r}{before} in task {task.name!r}")
    lines = lines_of(raw, path)
    if wanted.last > len(lines):
        raise UsageError(f"{path!r} has {counted(len(lines), 'line')}, and no line {wanted.last}")
    snippet = lines[wanted.first - 1 : wanted.last]
    with Comments.changing(project.task_layout(task.id)) as comments:
        comment = Comment(
            id=comments.new_id(),
            path=path,
            side=wanted.side,
            first=wanted.first,
            last=wanted.last,
            snippet="\n".join(snippet),
            said=project.redaction.text(said),
            text_sha256=comments.keep_text(raw),
            by=project.app.env.get("SIDING_RUN_ID", ""),
            created_at=project.app.now(),
        )
        comments.put([comment])
    return task, Placed(comment, lines)


def reword(project: Project, named: str | None, wanted: str, said: str) -> tuple[Task, Comment]:
    """Let a draft say something else. Raises NotFound, and UsageError once an agent was told."""
    task = select(project, named)
    said = _said(said)
    with Comments.changing(project.task_layout(task.id)) as comments:
        (chosen,) = _chosen(comments, [wanted])
        if chosen.state is not State.DRAFT or chosen.handed:
            word = "given to an agent" if chosen.handed else chosen.state.value
            raise UsageError(
                f"comment {wanted} is {word}, and its agent has read it as it is",
                hint="write another one",
            )
        changed = chosen._replace(said=project.redaction.text(said))
        comments.put([changed])
    return task, changed


def delete(project: Project, named: str | None, ids: Sequence[str]) -> tuple[Task, list[Comment]]:
    """Take comments away; return them. Raises NotFound; then none is taken away."""
    task = select(project, named)
    with Comments.changing(project.task_layout(task.id)) as comments:
        gone = _chosen(comments, ids)
        comments.take_away(each.id for each in gone)
    return task, gone


def listed(project: Project, named: str | None) -> tuple[Task, list[Placed]]:
    """Return all comments of a task with where their lines are now.

    Writes only what became of those that were given to a run that has ended since.
    """
    task = select(project, named)
    living = _settled(project, task)
    comments = Comments.read(project.task_layout(task.id))
    found = [placed(project, task, comments, each) for each in comments.all]
    return task, [each._replace(is_waiting=each.comment.waits_for in living) for each in found]


def _settled(project: Project, task: Task) -> set[str]:
    """Find out what became of comments that were given to runs that have ended; return the ids of
    those that live."""
    layout = project.task_layout(task.id)
    living = {run.id for run in Runs(layout).live()}
    comments = Comments.read(layout).all
    for run in {each.waits_for for each in comments if each.handed} - living:
        with suppress(LockBusy):
            prove(project, task, run, _transcript_of(project, task, run))
    return living


def _transcript_of(project: Project, task: Task, run: str) -> str:
    for step in project.ledger(task.id).newest_first():
        found = step.detail if step.run == run else None
        if isinstance(found, RunDetail) and found.reported is not None:
            return found.reported.transcript
    return ""


def resolve(
    project: Project, named: str | None, ids: Sequence[str], *, is_open: bool = False
) -> tuple[Task, list[Comment]]:
    """Say that comments are done, or (`is_open`) that they are not. Raises NotFound.

    Again is no error. One that is opened is again what it was.
    """
    task = select(project, named)
    with Comments.changing(project.task_layout(task.id)) as comments:
        chosen = _chosen(comments, ids)
        before = {each.id: State.SENT if each.sent_at else State.DRAFT for each in chosen}
        changed = [
            each._replace(state=before[each.id], resolved_at="")
            if is_open
            else each._replace(
                state=State.ADDRESSED, resolved_at=each.resolved_at or project.app.now()
            )
            for each in chosen
        ]
        comments.put(changed)
    return task, changed


def send_to_agent(
    project: Project,
    named: str | None,
    ids: Sequence[str],
    *,
    run: str | None = None,
    only_show: bool = False,
    held: Conversations | None = None,
) -> Sent:
    """Give comments to an agent as its next prompt: those that are named, else all drafts.

    The agent is the run that is named, else the only one that lives in the task and takes them.
    What its hooks are to give it stays a draft that waits until that is proven. Without an agent
    the prompt is only returned. With `only_show` nothing is done: what would be, is returned.
    Raises NotFound, UsageError, and what typing raises; then they stay drafts.
    """
    task = select(project, named)
    living = _settled(project, task)
    layout = project.task_layout(task.id)
    with Comments.changing(layout) as comments:
        drafts = [c for c in comments.all if c.state == "draft" and c.waits_for not in living]
        chosen = _chosen(comments, ids) if ids else drafts
        if not chosen:
            raise NotFound(
                f"task {task.name!r} has no comment that was not sent",
                hint="siding comments add PATH:LINE 'TEXT'; `siding comments` lists them",
            )
        shown = [placed(project, task, comments, each) for each in chosen]
        prompt = as_prompt(shown)
        to, way = _agent(project, task, run, held)
        told = [each.comment for each in shown]
        if only_show:
            return Sent(task, prompt, tuple(told), to, way)
        if way in (Way.AT_END, Way.WITH_PROMPT):
            assert to is not None
            told = waiting(told, to.id)
        else:
            if to is not None and way is Way.QUEUED:
                assert held is not None
                held.give(task.id, held.chat_of(task.id, to.id), prompt)
            elif to is not None:
                send(project, task.id, to.id, text=prompt, enter=True, keys=(), data=None)
            told = [sent(each, "" if to is None else to.id, project.app.now()) for each in told]
        comments.put(told)
    return Sent(task, prompt, tuple(told), to, way)


def takers(project: Project, named: str | None, held: Conversations | None = None) -> list[Taker]:
    """Return the agents that can be given the comments of a task, those told now first."""
    task = select(project, named)
    live = [run for run in Runs(project.task_layout(task.id)).live() if run.agent]
    found = [Taker(run, way_to(project, task, run, held)) for run in live]
    # The answer of one that a workflow runs is the workflow's: only who names it makes it go on.
    can = [
        each
        for each in found
        if each.way in _NOW or (each.way is not Way.BY_YOU and not each.run.in_program)
    ]
    return sorted(can, key=lambda each: each.way not in _NOW)


def way_to(project: Project, task: Task, run: Run, held: Conversations | None = None) -> Way:
    """Return how comments would reach the agent of a run that lives."""
    if held is not None and held.chat_of(task.id, run.id):
        return Way.QUEUED
    if _has_terminal(project, task, run):
        return Way.TYPED
    adapter = ADAPTER.of(run.agent or "")
    reported = read_reported(project.task_layout(task.id), run.id)
    if adapter is None or reported is None or not reported.transcript:
        return Way.BY_YOU  # it reports nothing, or nothing would prove that it was told
    takes = {Takes.AT_END: Way.AT_END, Takes.WITH_PROMPT: Way.WITH_PROMPT}
    return takes.get(adapter.takes, Way.BY_YOU)


def _said(text: str) -> str:
    said = text.strip()
    if not said:
        raise UsageError("a comment says something", hint="siding comments add PATH:LINE 'TEXT'")
    if len(said) > _LONGEST:
        raise UsageError(f"a comment has at most {counted(_LONGEST, 'character')}")
    return said


def _chosen(comments: Comments, ids: Sequence[str]) -> list[Comment]:
    by_id = {comment.id: comment for comment in comments.all}
    for wanted in ids:
        if wanted not in by_id:
            raise NotFound(f"there is no comment {wanted!r}", hint="`siding comments` lists them")
    return [by_id[wanted] for wanted in dict.fromkeys(ids)]


def _agent(
    project: Project, task: Task, named: str | None, held: Conversations | None
) -> tuple[Run | None, Way]:
    """Return the run to send to, and how; None if there is none. Raises UsageError for several."""
    if named is not None:
        live = Runs(project.task_layout(task.id)).live()
        found = [run for run in live if named in (run.id, run.name)]
        if not found:
            raise NotFound(f"no run {named!r} lives in task {task.name!r}", hint="siding runs")
        way = way_to(project, task, found[0], held)
        if way is Way.BY_YOU:
            require_terminal(project, task.id, found[0].id)
        return found[0], way
    able = takers(project, task.id, held)
    agents = [each for each in able if each.way in _NOW] or able
    if len(agents) > 1:
        names = ", ".join(f"{each.name} ({each.run.agent})" for each in agents)
        raise UsageError(
            f"several agents of task {task.name!r} can be given them: {names}",
            hint=f"choose one of them: siding comments send --to {agents[0].name}",
        )
    return (agents[0].run, agents[0].way) if agents else (None, Way.BY_YOU)


def _has_terminal(project: Project, task: Task, run: Run) -> bool:
    try:
        require_terminal(project, task.id, run.id)
    except SidingError:
        return False
    return True
