"""Comments on a task's change: write one, find them again in the present text, resolve, send.

A comment is of Siding and not of a screen: terminal, browser, scripts and agents read the same.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from siding.comments.anchor import found_again
from siding.comments.comment import Comment, Placed, Side, State, as_prompt
from siding.comments.store import LARGEST, Comments
from siding.ground.errors import NotFound, SidingError, UsageError, counted
from siding.ground.files.regular import read_below
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import known_workspace, require_workspace
from siding.record.recording.line_base import line_base
from siding.record.recording.named_paths import below_workspace
from siding.record.runs.run import Run
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task
from siding.running.attach import require_terminal, send

_LONGEST = 20_000  # characters of what is said


class NotText(SidingError):
    """What is there has no lines that could be commented."""

    code = "not_text"


class Wanted(NamedTuple):
    """Which lines are meant: `path` as it was typed, lines from 1 on."""

    path: str
    first: int
    last: int
    side: Side = Side.NEW


class Sent(NamedTuple):
    """What was sent: the prompt, its comments, and the run that was given it; None if none was."""

    task: Task
    prompt: str
    comments: tuple[Comment, ...]
    run: Run | None


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
    raw = _present_text(project, task, path, wanted.side)
    if raw is None:
        before = " before the change" if wanted.side is Side.OLD else ""
        raise NotFound(f"there is no file {path!r}{before} in task {task.name!r}")
    lines = _lines(raw, path)
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
        if chosen.state is not State.DRAFT:
            raise UsageError(
                f"comment {wanted} is {chosen.state.value}, and its agent has read it as it is",
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
    """Return all comments of a task with where their lines are now. Writes nothing."""
    task = select(project, named)
    comments = Comments.read(project.task_layout(task.id))
    return task, [_placed(project, task, comments, each) for each in comments.all]


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
    project: Project, named: str | None, ids: Sequence[str], *, run: str | None = None
) -> Sent:
    """Give comments to an agent as its next prompt: those that are named, else all drafts.

    The agent is the run that is named, else the only one that lives in the task and has a terminal.
    Without one the prompt is only returned. Raises NotFound, UsageError, and what `send` raises;
    then they stay drafts.
    """
    task = select(project, named)
    layout = project.task_layout(task.id)
    with Comments.changing(layout) as comments:
        chosen = _chosen(comments, ids) if ids else [c for c in comments.all if c.state == "draft"]
        if not chosen:
            raise NotFound(
                f"task {task.name!r} has no comment that was not sent",
                hint="siding comments add PATH:LINE 'TEXT'; `siding comments` lists them",
            )
        placed = [_placed(project, task, comments, each) for each in chosen]
        prompt = as_prompt(placed)
        to = _agent(project, task, run)
        if to is not None:
            send(project, task.id, to.id, text=prompt, enter=True, keys=(), data=None)
        told = [
            each.comment._replace(
                state=State.SENT,
                sent_at=project.app.now(),
                sent_to="" if to is None else to.id,
                resolved_at="",
            )
            for each in placed
        ]
        comments.put(told)
    return Sent(task, prompt, tuple(told), to)


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


def _agent(project: Project, task: Task, named: str | None) -> Run | None:
    """Return the run to send to; None if there is none. Raises UsageError for several."""
    live = Runs(project.task_layout(task.id)).live()
    if named is not None:
        found = [run for run in live if named in (run.id, run.name)]
        if not found:
            raise NotFound(f"no run {named!r} lives in task {task.name!r}", hint="siding runs")
        require_terminal(project, task.id, found[0].id)
        return found[0]
    agents = [run for run in live if run.agent and _has_terminal(project, task, run)]
    if len(agents) > 1:
        names = ", ".join(run.name or run.id for run in agents)
        raise UsageError(f"several agents run in task {task.name!r}: {names}", hint="--to RUN")
    return agents[0] if agents else None


def _has_terminal(project: Project, task: Task, run: Run) -> bool:
    try:
        require_terminal(project, task.id, run.id)
    except SidingError:
        return False
    return True


def _placed(project: Project, task: Task, comments: Comments, comment: Comment) -> Placed:
    """Return a comment with the place of its lines in the present text, which is kept if the
    comments are written."""
    raw = _present_text(project, task, comment.path, comment.side)
    kept = comments.text(comment.text_sha256)
    if raw is None or kept is None:
        return Placed(comment, None)
    try:
        old, new = _lines(kept, comment.path), _lines(raw, comment.path)
    except NotText:
        return Placed(comment, None)
    at = found_again(old, new, comment.first - 1, comment.size)
    if at is None:
        return Placed(comment, None)
    digest = comment.text_sha256 if kept == raw else comments.keep_text(raw)
    found = comment._replace(first=at + 1, last=at + comment.size, text_sha256=digest)
    return Placed(found, new)


def _present_text(project: Project, task: Task, path: str, side: Side) -> bytes | None:
    """Return the text that a comment's lines are of: of the workspace, or of the base."""
    workspace = known_workspace(project, task)
    if side is Side.NEW:
        try:
            return read_below(Path(workspace.path), Path(path), LARGEST + 1)[0]
        except (OSError, SidingError):
            return None
    store = project.snapshots
    base = line_base(project, workspace).commit
    done = store.git.attempt(store.place(), ["cat-file", "blob", f"{base}:{path}"])
    return done.stdout if done.returncode == 0 else None


def _lines(raw: bytes, path: str) -> list[str]:
    """Return the lines of a text, without their ends. Raises NotText for bytes and long texts."""
    if len(raw) > LARGEST:
        raise NotText(f"{path!r} is larger than {LARGEST >> 20} MiB, so it cannot be commented")
    if b"\0" in raw[:8192]:
        raise NotText(f"{path!r} is no text, so it has no lines")
    lines = raw.decode("utf-8", "surrogateescape").split("\n")
    return lines[:-1] if lines[-1] == "" else lines
