"""Asks of no task: a question without one, the hooks of a repository. Each gets a row. Pure."""

from siding.feed.model import Ask, Feed, Row, RowKind
from siding.feed.state import Facts, state_of

_NAMES = {"hooks": "hooks of the repository"}


def with_loose_asks(feed: Feed) -> Feed:
    """Return the feed with a row for each ask whose row is not there."""
    keys = {row.key for row in feed.rows}
    loose = [_row(ask) for ask in feed.asks if ask.row not in keys]
    return feed._replace(rows=(*feed.rows, *loose)) if loose else feed


def is_loose(row: Row) -> bool:
    """Tell whether a row is of an ask alone: there is no task to do anything to."""
    return not row.id


def _row(ask: Ask) -> Row:
    entry = ask.entry
    return Row(
        key=f"~ask/{ask.id}",
        kind=RowKind.TASK,
        state=state_of(Facts(asks=(ask.kind,))),
        project=entry.project_dir.rpartition("/")[2],
        project_name=entry.project,
        id="",
        name=entry.task_name or _NAMES.get(ask.kind.value, "no task"),
        what=entry.title,
        since=entry.since,
        address=ask.address,
        asks=(ask.id,),
    )
