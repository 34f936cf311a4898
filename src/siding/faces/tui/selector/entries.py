"""What works beside a conversation, of the feed and of its story. Pure.

Helpers of an agent are the calls in which others are made: the story says of these `inside` which
call they are. What an agent has running in the background it lists by its description alone, so
that the same words are the same entry.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from siding.faces.tui.selector.model import End, Entry, Kind
from siding.feed.model import Feed, RowKind, State
from siding.feed.model import Row as FeedRow

_RUNNING = (State.WAITS, State.RUNS)
_CALL, _BACKGROUND = "call:", "background:"


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


class Helpers:
    """Follows a story: the helpers of its agent, and what it has in the background."""

    def __init__(self) -> None:
        self._calls: dict[str, Entry] = {}  # of the turn that runs
        self._helpers: dict[str, Entry] = {}
        self._background: dict[str, Entry] = {}

    def take(self, line: Mapping[str, Any]) -> None:
        """Take the next line of the story."""
        at = seconds(str(line.get("at") or ""))
        match line.get("event"):
            case "tool-started":
                self._started(line, at)
            case "tool-ended":
                self._ended(str(line.get("call")), at, is_failed=bool(line.get("failed")))
            case "in-background":
                self._listed(line.get("running"), at)
            case "turn-ended" | "ended" | "hosted":
                for call in [*self._calls]:
                    self._ended(call, at)
                self._calls.clear()
                if line.get("event") != "turn-ended":
                    self._listed((), at)

    def entries(self) -> list[Entry]:
        """Return what was found, also what has ended."""
        return [*self._helpers.values(), *self._background.values()]

    def _started(self, line: Mapping[str, Any], at: float) -> None:
        call, inside = str(line.get("call")), str(line.get("inside") or "")
        given = line.get("input")
        kind = given.get("subagent_type") if isinstance(given, Mapping) else None
        self._calls[call] = Entry(
            key=f"{_CALL}{call}",
            kind=Kind.AGENT,
            name=str(kind or line.get("name") or "agent"),
            about=str(line.get("title") or ""),
            started_s=at,
        )
        if inside in self._calls:
            self._helpers.setdefault(inside, self._calls[inside])

    def _ended(self, call: str, at: float, *, is_failed: bool = False) -> None:
        self._calls.pop(call, None)
        helper = self._helpers.get(call)
        if helper is not None and helper.is_running:
            end = End.FAILED if is_failed else End.DONE
            self._helpers[call] = helper._replace(end=end, ended_s=at)

    def _listed(self, running: object, at: float) -> None:
        named = [str(each) for each in running] if isinstance(running, Sequence) else []
        for words in named:
            known = self._background.get(words)
            if known is None or not known.is_running:
                self._background[words] = Entry(
                    key=f"{_BACKGROUND}{at}:{words}",
                    kind=Kind.SHELL,
                    name="background",
                    about=words,
                    started_s=at,
                )
        for words, entry in self._background.items():
            if words not in named and entry.is_running:
                self._background[words] = entry._replace(end=End.DONE, ended_s=at)


def all_entries(feed: Feed, task: str, helpers: Helpers) -> Iterable[Entry]:
    """Return everything that works beside a conversation."""
    return [*helpers.entries(), *entries_of_feed(feed, task)]


def call_of(key: str) -> str:
    """Return the call that a helper's key names: its lines are `inside` it; "" for another key."""
    return key.removeprefix(_CALL) if key.startswith(_CALL) else ""


def seconds(moment: str) -> float:
    """Return an ISO 8601 moment in seconds since 1970; 0 for none."""
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return 0.0
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
