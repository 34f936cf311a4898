"""What works beside a conversation, of the feed and of its story, as entries. Pure."""

from collections.abc import Iterable
from datetime import UTC, datetime

from siding.chat.beside import Helper, HelperState
from siding.faces.tui.selector.model import End, Entry, Kind
from siding.feed.model import Feed, RowKind, State
from siding.feed.model import Row as FeedRow

_RUNNING = (State.WAITS, State.RUNS)
_ENDS = {
    HelperState.RUNS: End.NONE,
    HelperState.DONE: End.DONE,
    HelperState.FAILED: End.FAILED,
}


def entries_of_feed(feed: Feed, task: str) -> list[Entry]:
    """Return the runs of workflows that work in a task, by the key of its row, and their agents."""
    flows = {
        row.key for row in feed.rows if row.kind is RowKind.WORKFLOW and row.parent == task and task
    }
    return [
        _of_row(row, Kind.MEMBER if row.kind is RowKind.AGENT else Kind.WORKFLOW)
        for row in feed.rows
        if row.key in flows or (row.kind is RowKind.AGENT and row.parent in flows)
    ]


def _of_row(row: FeedRow, kind: Kind) -> Entry:
    since = seconds(row.since)
    end = End.NONE if row.state in _RUNNING else End.DONE
    if row.state is State.BROKE:
        end = End.FAILED
    return Entry(
        key=row.key,
        kind=kind,
        name=row.name,
        about=row.what,
        started_s=since,
        ended_s=None if end is End.NONE else since,
        end=end,
        address=row.address,
    )


def entry_of(helper: Helper) -> Entry:
    """Return what the selector shows of a helper, or of what is in the background."""
    return Entry(
        key=helper.key,
        kind=Kind.AGENT if helper.part else Kind.SHELL,
        name=helper.name,
        about=helper.about,
        started_s=seconds(helper.started_at),
        ended_s=seconds(helper.ended_at) if helper.ended_at else None,
        end=_ENDS[helper.state],
        part=helper.part,
    )


def all_entries(feed: Feed, task: str, helpers: Iterable[Helper]) -> Iterable[Entry]:
    """Return everything that works beside a conversation."""
    return [*map(entry_of, helpers), *entries_of_feed(feed, task)]


def seconds(moment: str) -> float:
    """Return an ISO 8601 moment in seconds since 1970; 0 for none."""
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return 0.0
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
