"""A task board in a repository: ``.tasks/`` says what is to be done, ``.worktrees/`` where.

    .tasks/task_<id>.json      id, subject, description, status, owner, worktree, blockedBy, blocks,
                               created_at, updated_at (seconds since 1970)
    .worktrees/index.json      {"worktrees": [{name, path, branch, task_id, status, created_at,
                               removed_at, kept_at}]}
    .worktrees/events.jsonl    what happened, one object a line

The shapes are those of the lessons about agents with isolated worktrees (``learn-claude-code``).
Ids are whole numbers there; texts, as in later lessons, are taken as well.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.importing.record_fields import (
    fitting_name,
    identifier_in,
    identifiers_in,
    text_in,
    time_in,
    without,
)
from siding.record.tasks.task import TaskState, WorkspaceState

TASK_STATES: Mapping[str, TaskState] = {
    "pending": TaskState.PENDING,
    "in_progress": TaskState.ACTIVE,
    "completed": TaskState.CLOSED,
}
WORKTREE_STATES: Mapping[str, WorkspaceState] = {
    "active": WorkspaceState.ACTIVE,
    "kept": WorkspaceState.KEPT,
    "removed": WorkspaceState.REMOVED,
}
_TASK = (
    "id",
    "subject",
    "description",
    "status",
    "owner",
    "worktree",
    "blockedBy",
    "blocks",
    "created_at",
    "updated_at",
)
_WORKTREE = ("name", "path", "branch", "task_id", "status", "created_at", "removed_at", "kept_at")


class BoardTask(NamedTuple):
    """One task of the board. Times are ISO 8601, "" if they are not known."""

    id: str
    name: str  # fits as a task's name here
    subject: str  # as it was written
    description: str
    status: TaskState
    owner: str
    worktree: str  # the name of its worktree, or ""
    blocked_by: tuple[str, ...]
    blocks: tuple[str, ...]
    created_at: str
    updated_at: str
    rest: Mapping[str, Any]


class BoardWorktree(NamedTuple):
    """One entry of the index of worktrees."""

    name: str
    path: str
    branch: str
    task_id: str  # "" if it belongs to no task
    status: WorkspaceState
    created_at: str
    rest: Mapping[str, Any]


class Board(NamedTuple):
    """What could be read of a board. `problems` name what could not, and why."""

    tasks: tuple[BoardTask, ...] = ()
    worktrees: tuple[BoardWorktree, ...] = ()
    events: int = 0
    problems: tuple[str, ...] = ()


def read_board(tasks: Mapping[str, bytes], index: bytes | None, events: bytes | None) -> Board:
    """Return the board in these files; `tasks` are the files of ``.tasks`` by their names.

    Never fails: what is damaged is named in `problems`, and the rest is taken. Of two tasks with
    one id, that counts whose file is named after it. `blocked_by` has only tasks that are there,
    and no circles.
    """
    problems: list[str] = []
    parsed: list[tuple[str, BoardTask]] = []
    for name in sorted(tasks, key=_natural):
        try:
            parsed.append((name, task_from(tasks[name])))
        except ValueError as error:
            problems.append(f".tasks/{name}: {error}")
    found: dict[str, BoardTask] = {}
    for name, task in sorted(parsed, key=lambda each: not _is_named_after(*each)):
        if task.id in found:
            problems.append(f".tasks/{name}: there is a task {task.id} in another file already")
        else:
            found[task.id] = task
    found = {each: found[each] for each in sorted(found, key=_natural)}
    entries, wrong = ([], []) if index is None else worktrees_from(index)
    problems += [f".worktrees/index.json: {each}" for each in wrong]
    joined, circles = _joined(found)
    problems += [f".tasks: {each}" for each in circles]
    return Board(
        tasks=tuple(joined),
        worktrees=tuple(entries),
        events=0 if events is None else sum(1 for line in events.splitlines() if line.strip()),
        problems=tuple(problems),
    )


def task_from(raw: bytes) -> BoardTask:
    """Return the task in a file; raises ValueError with a reason."""
    document = _object(raw)
    number = identifier_in(document, "id")
    if not number:
        raise ValueError("`id` is missing")
    status = text_in(document, "status", "pending")
    if status not in TASK_STATES:
        raise ValueError(f"`status` is {status[:40]!r}, and no state of a task")
    subject = text_in(document, "subject")
    return BoardTask(
        id=number,
        name=fitting_name(subject, f"task {number[:100]}"),
        subject=subject,
        description=text_in(document, "description"),
        status=TASK_STATES[status],
        owner=text_in(document, "owner"),
        worktree=text_in(document, "worktree"),
        blocked_by=identifiers_in(document, "blockedBy"),
        blocks=identifiers_in(document, "blocks"),
        created_at=time_in(document, "created_at"),
        updated_at=time_in(document, "updated_at"),
        rest=without(document, _TASK),
    )


def worktrees_from(raw: bytes) -> tuple[list[BoardWorktree], list[str]]:
    """Return the entries of an index, and what is wrong with the others.

    An entry that comes twice, by its name, counts as its last one says.
    """
    try:
        entries = _object(raw).get("worktrees")
    except ValueError as error:
        return [], [str(error)]
    if not isinstance(entries, list):
        return [], ["`worktrees` is not a list"]
    found: dict[str, BoardWorktree] = {}
    problems = []
    for number, entry in enumerate(entries, start=1):
        try:
            worktree = _worktree_from(entry)
        except ValueError as error:
            problems.append(f"entry {number}: {error}")
            continue
        found.pop(worktree.name, None)
        found[worktree.name] = worktree
    return list(found.values()), problems


def _worktree_from(entry: object) -> BoardWorktree:
    if not isinstance(entry, dict):
        raise ValueError("it is not an object")  # noqa: TRY004 - about the file
    name, status = text_in(entry, "name"), text_in(entry, "status", "active")
    if not name:
        raise ValueError("`name` is missing")
    if status not in WORKTREE_STATES:
        raise ValueError(f"`status` is {status[:40]!r}, and no state of a worktree")
    path = text_in(entry, "path")
    if "\0" in path:
        raise ValueError("`path` cannot be a path")
    return BoardWorktree(
        name=name,
        path=path,
        branch=text_in(entry, "branch"),
        task_id=identifier_in(entry, "task_id"),
        status=WORKTREE_STATES[status],
        created_at=time_in(entry, "created_at"),
        rest=without(entry, _WORKTREE),
    )


def _joined(tasks: Mapping[str, BoardTask]) -> tuple[list[BoardTask], list[str]]:
    """Return the tasks with `blocked_by` whole: also what others' `blocks` say, and no circles."""
    blockers = {each.id: list(each.blocked_by) for each in tasks.values()}
    for each in tasks.values():
        for blocked in each.blocks:
            if blocked in blockers and each.id not in blockers[blocked]:
                blockers[blocked].append(each.id)
    problems = []
    kept: dict[str, list[str]] = {each: [] for each in tasks}
    for task_id, wanted in blockers.items():
        for blocker in wanted:
            if blocker not in tasks:
                problems.append(f"task {task_id} waits for task {blocker}, which is not there")
            elif reaches(kept, blocker, task_id):
                problems.append(f"task {task_id} and task {blocker} wait for each other")
            else:
                kept[task_id].append(blocker)
    return [each._replace(blocked_by=tuple(kept[each.id])) for each in tasks.values()], problems


def reaches(edges: Mapping[str, Sequence[str]], start: str, goal: str) -> bool:
    """Tell whether `goal` is `start` or can be reached from it."""
    waiting, seen = [start], {start}
    while waiting:
        here = waiting.pop()
        if here == goal:
            return True
        fresh = [each for each in edges.get(here, ()) if each not in seen]
        seen.update(fresh)
        waiting += fresh
    return False


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        return parse_object(raw)
    except NotJson as error:
        raise ValueError(str(error)) from error


def _is_named_after(name: str, task: BoardTask) -> bool:
    return name in (f"task_{task.id}.json", f"{task.id}.json")


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Return a key that sorts ``task_2.json`` before ``task_10.json``."""
    return [_part(each) for each in _parts(name)]


def _part(text: str) -> tuple[int, int | str]:
    return (0, int(text)) if text.isascii() and text.isdigit() and len(text) < 100 else (1, text)


def _parts(name: str) -> Iterable[str]:
    part = ""
    for character in name:
        if part and part[-1].isdigit() != character.isdigit():
            yield part
            part = ""
        part += character
    if part:
        yield part
