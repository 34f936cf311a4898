"""Tasks in lists, as this terminal sees them, and one with its workspace.

The cost of a list grows with the number of tasks that changed since last time. A row is made from
the task's document and its newest ledger line. Rows are kept in ``cache/board.json`` with the size,
modification time and inode of these two files; a row whose files are the same is not read again.
An entry may have ``more``, which the fold of the feed reads (`task_work.py`). The cache can be
deleted at any time.
"""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.record.ledger.intent_files import has_intents
from siding.record.place.project import Project
from siding.record.place.selection import current_task_id, select
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task, TaskState

if TYPE_CHECKING:
    from siding.record.ledger.store import Ledger

    More = Callable[[Task, Ledger], dict[str, Any]]

CACHE_VERSION = 2
_CACHE = "cache/board.json"
_TUPLES = ("tags", "blocked_by")


class TaskRow(NamedTuple):
    """One task in a list."""

    id: str
    name: str
    status: str
    active: bool
    running: bool  # there is an intent: a step is in progress, or was cut off and is not recorded
    owner: str
    tags: tuple[str, ...]
    blocked_by: tuple[str, ...]
    blocked: bool  # one of those tasks is not closed yet, or cannot be read
    branch: str
    workspace: str  # state of its workspace
    created_at: str
    updated_at: str
    steps: int
    last_command: str
    last_status: str
    last_at: str  # when the last step ended
    last_snapshot: str
    agent: str  # of the last step; "" for any other command
    files: int  # the number of files that the last step changed
    additions: int
    deletions: int


class Board(NamedTuple):
    """The rows of a list of tasks, and the ids of the tasks whose document cannot be read."""

    rows: list[TaskRow]
    unreadable: list[TaskId]


def rows(project: Project, *, include_closed: bool) -> list[TaskRow]:
    """Return the tasks, oldest first."""
    return look(project, include_closed=include_closed).rows


def look(project: Project, *, include_closed: bool) -> Board:
    """Return the tasks, oldest first, and the ids of those that could not be read."""
    try:
        return _board(project, TaskCache(project), include_closed=include_closed)
    except (LookupError, TypeError):  # the cache is damaged: read everything again
        return _board(project, TaskCache(project, known={}), include_closed=include_closed)


class TaskCache:
    """What the documents and ledgers of a project's tasks say, read again only if they changed.

    `more` returns from a task and its ledger what the cache is to hold besides the row. An entry
    that lacks it is read again.
    """

    def __init__(
        self,
        project: Project,
        *,
        known: Mapping[str, Any] | None = None,
        more: "More | None" = None,
    ) -> None:
        self.project, self._more = project, more
        self._known = _cached(project) if known is None else known
        self._fresh: dict[str, Any] = {}
        # With thousands of tasks, joining strings is ten times as fast as making Path objects.
        self._tasks = os.fspath(project.layout.tasks_dir)

    def entry(self, task_id: TaskId) -> dict[str, Any] | None:
        """Return the entry of a task, or None if its document cannot be read."""
        task = f"{self._tasks}/{task_id}"
        signature = [*stamp(f"{task}/task.json"), *stamp(f"{task}/ledger.jsonl")]
        entry = self._fresh.get(task_id) or self._known.get(task_id)
        if (
            not isinstance(entry, dict)
            or entry.get("signature") != signature
            or (self._more is not None and "more" not in entry)
        ):
            entry = read_entry(self.project, task_id, signature, self._more)
        if entry is not None:
            self._fresh[task_id] = entry
        return entry

    def keep(self, *, others: bool = False) -> None:
        """Write the tasks that were asked for, if the cache on the disk says anything else.

        With `others` those stay in it that nobody asked for.
        """
        if others:
            self._fresh = {**self._known, **self._fresh}
        if self._fresh != self._known:
            _remember(self.project, self._fresh)
            self._known = dict(self._fresh)


def _board(project: Project, cache: TaskCache, *, include_closed: bool) -> Board:
    fresh: dict[str, Any] = {}
    unreadable = []
    tasks = os.fspath(project.layout.tasks_dir)
    for task_id in project.tasks.ids():
        entry = cache.entry(task_id)
        if entry is not None:
            fresh[task_id] = entry
        elif os.path.lexists(project.task_layout(task_id).task_json):
            unreadable.append(task_id)
    cache.keep()
    active = project.active_task_id()
    states = project.workspaces.states()
    open_ids = {
        task_id
        for task_id, entry in fresh.items()
        if entry["row"]["status"] != TaskState.CLOSED.value
    }
    open_ids.update(unreadable)
    found = [
        TaskRow(
            id=task_id,
            active=task_id == active,
            workspace=states.get(task_id, "absent"),
            running=has_intents(f"{tasks}/{task_id}"),
            blocked=not open_ids.isdisjoint(entry["row"]["blocked_by"]),
            **{**entry["row"], **{name: tuple(entry["row"][name]) for name in _TUPLES}},
        )
        for task_id, entry in fresh.items()
        if include_closed or entry["row"]["status"] != TaskState.CLOSED.value
    ]
    ordered = sorted(found, key=lambda row: (row.created_at, row.id))
    return Board(rows=ordered, unreadable=unreadable)


def read_entry(
    project: Project, task_id: TaskId, signature: list[int], more: "More | None"
) -> dict[str, Any] | None:
    """Return the cache entry of a task, or None if its document cannot be read."""
    try:
        task = project.tasks.load(task_id)
    except SidingError:
        return None
    ledger = project.ledger(task_id)
    last = ledger.last()
    return {
        "signature": signature,
        **({} if more is None else {"more": more(task, ledger)}),
        "row": {
            "name": task.name,
            "status": task.status.value,
            "owner": task.owner,
            "tags": list(task.tags),
            "blocked_by": list(task.blocked_by),
            "branch": task.branch,
            "created_at": task.created_at,
            "updated_at": task.updated_at,
            "steps": last.number if last else 0,
            "last_command": last.title[:200] if last else "",
            "last_status": last.status if last else "",
            "last_at": last.ended_at if last else "",
            "last_snapshot": (last.snapshot or "") if last else "",
            "agent": last.agent if last else "",
            "files": last.files if last else 0,
            "additions": last.additions if last else 0,
            "deletions": last.deletions if last else 0,
        },
    }


def stamp(path: str) -> tuple[int, int, int]:
    """Return a value that changes when a file does; zeros for one that is not there."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _cached(project: Project) -> dict[str, Any]:
    try:
        document = read_document_or_none(
            project.layout.root / _CACHE, what="board cache", version=CACHE_VERSION
        )
    except (SidingError, OSError, LookupError):  # LookupError: an older version
        return {}
    entries = (document or {}).get("tasks")
    return entries if isinstance(entries, dict) else {}


def _remember(project: Project, entries: dict[str, Any]) -> None:
    """Write the cache, and ignore failures: listing must work on a full or read-only disk."""
    path = project.layout.root / _CACHE
    try:
        make_dirs(path.parent)
        write_document(path, {"version": CACHE_VERSION, "tasks": entries})
    except (OSError, SidingError):
        return


def listed(project: Project, *, include_closed: bool) -> Board:
    """Return the board; active is the task that commands in this terminal are about."""
    here = current_task_id(project)
    board = look(project, include_closed=include_closed)
    return board._replace(rows=[row._replace(active=row.id == here) for row in board.rows])


def show(project: Project, named: str | None) -> tuple[Task, Workspace | None]:
    """Return the task that is named, or the current one, and its workspace."""
    from siding.record.place.task_workspace import workspace_of

    task = select(project, named)
    return task, workspace_of(project, task)


def ports(project: Project, task: Task) -> range:
    """Return the ports of a task, the first of which is its ``SIDING_PORT``; none before its first
    run. Raises UnreadableFile."""
    from siding.record.tasks.ports import ports_of

    return ports_of(project.app.home, project.layout, task.id)
