"""The data of the board page: each task with its running step and what waits for a person."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from siding.feed.board import TaskRow, look
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.intents import Intent, Intents
from siding.record.place.project import Project
from siding.record.recording.line_base import line_base
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.tasks.task import TaskState

__all__ = [
    "BoardGroup",
    "Card",
    "Overview",
    "TaskRow",
    "Total",
    "Waiting",
    "overview",
    "total_change",
]


class BoardGroup(StrEnum):
    """The columns of the board."""

    WAITING = "waiting"  # for a person
    RUNNING = "running"
    OPEN = "open"
    PLANNED = "planned"
    CLOSED = "closed"


class Waiting(NamedTuple):
    """Something that waits for a person.

    `task` is "" for a question that was asked outside of any task. `path` is its page on the
    dashboard, "" if it has none. `about` and `since` are a detail and an ISO 8601 time.
    """

    task: str
    what: str
    path: str
    about: str = ""
    since: str = ""


class Total(NamedTuple):
    """The total figures of what a task changed since its base."""

    files: int
    additions: int
    deletions: int


class Card(NamedTuple):
    """One task on the board.

    `running` is the step in progress. If `cut_off` is set, its process has died.
    """

    row: TaskRow
    group: BoardGroup
    running: Intent | None
    cut_off: bool
    waiting: tuple[Waiting, ...]


class Overview(NamedTuple):
    """The whole board.

    `unreadable` are the ids of tasks that cannot be read. `loose` is what waits and belongs to no
    open task.
    """

    cards: list[Card]
    unreadable: list[TaskId]
    loose: list[Waiting]

    def group(self, group: BoardGroup) -> list[Card]:
        """Return the tasks of a group, those with the newest step first."""
        found = [card for card in self.cards if card.group is group]
        return sorted(found, key=lambda card: card.row.last_at or card.row.created_at, reverse=True)


def overview(project: Project, waiting: Sequence[Waiting] = ()) -> Overview:
    """Return the board. Only the cache of the board is written."""
    board = look(project, include_closed=True)
    by_task: dict[str, list[Waiting]] = {}
    for each in waiting:
        by_task.setdefault(each.task, []).append(each)
    cards = [_card(project, row, by_task) for row in board.rows]
    on_cards = {card.row.id for card in cards if card.group is not BoardGroup.CLOSED}
    loose = [each for each in waiting if each.task not in on_cards]
    return Overview(cards=cards, unreadable=board.unreadable, loose=loose)


def total_change(project: Project, task_id: str, snapshot: str) -> Total | None:
    """Return what a task changed between its base and a snapshot; None if it cannot be computed.

    Starts git once. Neither snapshot ever changes, so the caller can cache the result for ever.
    """
    workspace = project.workspaces.of_task(TaskId(task_id))
    if workspace is None or not workspace.base_snapshot or not snapshot:
        return None
    try:
        base = line_base(project, workspace).snapshot
        stat = TaskSnapshots(project, workspace).diff_stat(base, snapshot)
    except SidingError:  # the snapshots are gone; `siding verify` reports that
        return None
    return Total(files=stat.files, additions=stat.additions, deletions=stat.deletions)


def chosen(cards: Iterable[Card], ids: Sequence[str]) -> list[Card]:
    """Return the cards whose task has one of these ids."""
    return [card for card in cards if card.row.id in ids]


def _card(project: Project, row: TaskRow, waiting: Mapping[str, list[Waiting]]) -> Card:
    running, cut_off = None, False
    if row.running:
        intents = Intents(project.task_layout(TaskId(row.id)))
        try:
            running = intents.newest()
        except SidingError:
            running = None
        cut_off = running is not None and intents.is_cut_off(running)
    return Card(
        row=row,
        group=_group(row, bool(waiting.get(row.id)), runs=running is not None and not cut_off),
        running=running,
        cut_off=cut_off,
        waiting=tuple(waiting.get(row.id, ())),
    )


def _group(row: TaskRow, waits: bool, *, runs: bool) -> BoardGroup:
    if row.status == TaskState.CLOSED.value:
        return BoardGroup.CLOSED
    if waits:
        return BoardGroup.WAITING
    if runs:
        return BoardGroup.RUNNING
    return BoardGroup.PLANNED if row.status == TaskState.PENDING.value else BoardGroup.OPEN
