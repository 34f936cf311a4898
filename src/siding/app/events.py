"""A project's lifecycle facts for other programs to follow: ``events.jsonl``.

The payload is the s12 one (event, ts, task, worktree, error); ``v`` and ``at`` are added, and
further facts of an event stand beside them. It is a side channel: no state is read back from it.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from siding.clock import Clock, iso
from siding.storage.journals import Journal
from siding.storage.layout import ProjectLayout


class Event(NamedTuple):
    """One event. `end`: the byte offset to go on from."""

    end: int
    fields: Mapping[str, Any]


class EventLog:
    """The events of one project."""

    def __init__(
        self, layout: ProjectLayout, clock: Clock, *, redact: Callable[[Any], Any] | None = None
    ) -> None:
        self._journal = Journal(layout.events_jsonl)
        self._clock = clock
        self._redact = redact

    def emit(
        self,
        event: str,
        *,
        task: Mapping[str, Any] | None = None,
        worktree: Mapping[str, Any] | None = None,
        error: str | None = None,
        **more: Any,
    ) -> None:
        """Append one event. `ts` is in seconds since 1970."""
        now = self._clock.now()
        record: dict[str, Any] = {
            "v": 1,
            "event": event,
            "ts": now.timestamp(),
            "at": iso(now),
            "task": dict(task or {}),
            "worktree": dict(worktree or {}),
        }
        if error is not None:
            record["error"] = error
        record |= more
        self._journal.append(record if self._redact is None else self._redact(record))

    def since(self, offset: int, *, limit: int) -> Iterator[Event]:
        """Yield the events from an `Event.end` on (0: from the first), whole lines only."""
        for entry in islice(self._journal.entries(offset), limit):
            if entry.record is not None:
                yield Event(end=entry.end, fields=entry.record)

    def newest(self, count: int) -> list[dict[str, Any]]:
        """Return the newest `count` events, oldest first; a damaged line says what it is."""
        return [
            entry.record
            if entry.record is not None
            else {"event": "unreadable", "error": entry.problem, "task": {}, "worktree": {}}
            for entry in self._journal.tail(count)
        ]
