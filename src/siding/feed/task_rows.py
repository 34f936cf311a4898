"""What the feed says of the tasks of one project, for the JSON of commands about it alone."""

from collections.abc import Iterable
from typing import Any

from siding.feed.board import TaskRow
from siding.feed.fold import HomeFold
from siding.feed.model import Row, RowKind, State
from siding.feed.seen import Seen
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.tasks.task import Task, TaskState

_OF_CHAT = ("id", "agent", "title", "state", "since", "what", "queued", "run", "asks", "address")


def task_records(project: Project, tasks: Iterable[TaskRow]) -> list[dict[str, Any]]:
    """Return the tasks of a list as JSON objects, each with what the feed says of it."""
    rows = HomeFold(project.app, project).look().rows
    found = {row.id: row for row in rows if row.kind is RowKind.TASK}
    closed, seen = TaskState.CLOSED.value, Seen(project.app.home)
    return [
        {**task._asdict(), **_said(found.get(task.id), seen, is_open=task.status != closed)}
        for task in tasks
    ]


def task_record(project: Project, task: Task) -> dict[str, Any]:
    """Return what the feed says of one task, with its asks whole. The others are not read."""
    feed = HomeFold(project.app, project, task.id).look()
    row = next((row for row in feed.rows if row.kind is RowKind.TASK and row.id == task.id), None)
    asks = () if row is None else row.asks
    said = _said(row, Seen(project.app.home), is_open=task.status is not TaskState.CLOSED)
    chats = [each.as_record() for each in _chats(feed.rows, task.id)]
    return {
        **said,
        "asks": [ask.as_record() for ask in feed.asks if ask.id in asks],
        "chats": [{name: each[name] for name in _OF_CHAT} for each in chats],
    }


def chat_rows(project: Project, task: TaskId) -> list[Row]:
    """Return the rows of the conversations of one task, oldest first."""
    return _chats(HomeFold(project.app, project, task).look().rows, task)


def _chats(rows: Iterable[Row], task: TaskId) -> list[Row]:
    found = [row for row in rows if row.kind is RowKind.CHAT and row.parent.endswith(f"/{task}")]
    return sorted(found, key=lambda row: int(row.id[1:]))


def _said(row: Row | None, seen: Seen, *, is_open: bool) -> dict[str, Any]:
    if row is None:  # it was closed more than a day ago, or is a fork at rest
        state = State.RESTS if is_open else State.DONE
        return {"state": state.value, "address": "", "unapplied": 0, "unseen": False, "asks": []}
    return {
        "state": row.state.value,
        "address": row.address,
        "unapplied": row.unapplied,
        "unseen": seen.is_unseen(row),
        "asks": list(row.asks),
    }
