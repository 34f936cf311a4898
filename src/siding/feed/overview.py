"""The data of the board page: each task in its state, and what waits for a person."""

from collections.abc import Iterable, Sequence

from siding.asking.views import Waits
from siding.feed.board import TaskRow, look
from siding.feed.model import Ask, Feed, Row, RowKind, State
from siding.feed.rows import task_key
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.recording.line_base import line_base
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.tasks.task import TaskState

__all__ = ["Card", "Overview", "TaskRow", "Total", "overview", "total_change"]


class Total(NamedTuple):
    """The total figures of what a task changed since its base."""

    files: int
    additions: int
    deletions: int


class Card(NamedTuple):
    """One task on the board. `shown` is its row of the feed; None for one closed long ago."""

    row: TaskRow
    state: State
    shown: Row | None
    asks: tuple[Ask, ...]
    chats: tuple[Row, ...] = ()  # its conversations that were not ended

    @property
    def doing(self) -> str:
        """What runs in it; "" for nothing."""
        return self.shown.what if self.shown is not None and self.state is State.RUNS else ""

    @property
    def runs(self) -> bool:
        """Whether a run of it lives, also one that waits for a person."""
        return self.shown is not None and bool(self.shown.run)

    @property
    def is_planned(self) -> bool:
        """Whether nothing was begun in it yet."""
        return self.state is State.RESTS and self.row.status == TaskState.PENDING.value

    @property
    def is_cut_off(self) -> bool:
        """Whether an act of it began whose process has died."""
        return any(ask.entry.kind == Waits.CUT_OFF for ask in self.asks)


class Overview(NamedTuple):
    """The whole board.

    `unreadable` are the ids of tasks that cannot be read. `loose` is what waits and belongs to no
    open task.
    """

    cards: list[Card]
    unreadable: list[TaskId]
    loose: list[Ask]

    def group(self, state: State) -> list[Card]:
        """Return the tasks in a state, those with the newest step first."""
        found = [card for card in self.cards if card.state is state]
        return sorted(found, key=lambda card: card.row.last_at or card.row.created_at, reverse=True)


def overview(project: Project, feed: Feed) -> Overview:
    """Return the board of a project. Only the cache of the board is written."""
    board = look(project, include_closed=True)
    name = project.layout.root.name
    rows = {row.id: row for row in feed.rows if row.project == name and row.kind is RowKind.TASK}
    asks: dict[str, list[Ask]] = {}
    for ask in asks_of(project, feed):
        asks.setdefault(ask.entry.task_id, []).append(ask)
    chats: dict[str, list[Row]] = {}
    for each in filter(_is_open_chat, feed.rows):
        chats.setdefault(each.parent, []).append(each)
    cards = [
        _card(row, rows.get(row.id), asks.get(row.id, ()))._replace(
            chats=tuple(chats.get(task_key(name, row.id), ()))
        )
        for row in board.rows
    ]
    on_cards = {card.row.id for card in cards if card.state is not State.DONE}
    loose = [
        ask
        for found in asks.values()
        for ask in found
        if ask.entry.task_id not in on_cards and (ask.entry.task_id or ask.entry.session_id)
    ]
    return Overview(cards=cards, unreadable=board.unreadable, loose=loose)


def asks_of(project: Project, feed: Feed) -> list[Ask]:
    """Return what waits in a project, longest waiting first."""
    here = str(project.layout.root)
    return [ask for ask in feed.asks if ask.entry.project_dir == here]


def chats_of(project: Project, task_id: str, feed: Feed) -> list[Row]:
    """Return the rows of the conversations of a task that were not ended."""
    parent = task_key(project.layout.root.name, task_id)
    return [row for row in feed.rows if row.parent == parent and _is_open_chat(row)]


def _is_open_chat(row: Row) -> bool:
    return row.kind is RowKind.CHAT and row.state is not State.DONE


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


def _card(row: TaskRow, shown: Row | None, asks: Sequence[Ask]) -> Card:
    if shown is not None:
        return Card(row=row, state=shown.state, shown=shown, asks=tuple(asks))
    is_closed = row.status == TaskState.CLOSED.value
    # A task that came a moment after the feed was looked at.
    return Card(row, State.DONE if is_closed else State.RESTS, None, tuple(asks))
