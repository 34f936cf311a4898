"""Record the events of a project in ``events.jsonl``, and pass them to listeners in this process.

The fields event, ts, task, worktree and error are the ones that other tools of this kind write;
``v``, ``at`` and further fields of an event are added. The file is only for other programs: Siding
never reads its state from it.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from siding.ground.clock import Clock, iso
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.journals import Journal
from siding.ground.storage.layout import ProjectLayout
from siding.record.place.wiring import Heard, Listeners

if TYPE_CHECKING:
    from siding.record.place.wiring import Event


class LoggedEvent(NamedTuple):
    """One line of ``events.jsonl``. `end` is the byte offset after it."""

    end: int
    fields: Mapping[str, Any]


class EventLog:
    """The events of one project."""

    def __init__(
        self,
        layout: ProjectLayout,
        clock: Clock,
        listeners: Listeners,
        *,
        redact: Callable[[Any], Any],
    ) -> None:
        self._layout = layout
        self._journal = Journal(layout.events_jsonl)
        self._clock = clock
        self._listeners = listeners
        self._redact = redact

    def emit(self, event: "Event") -> None:
        """Append one event and call the listeners. The field `ts` is in seconds since 1970."""
        now = self._clock.now()
        record = {
            "v": 1,
            "event": event.name,
            "ts": now.timestamp(),
            "at": iso(now),
            "task": {},
            "worktree": {},
            **event.record(),
        }
        self._journal.append(self._redact(record))
        self._listeners.tell(Heard(self._layout, event))

    def since(self, offset: int, *, limit: int) -> Iterator[LoggedEvent]:
        """Yield up to `limit` events from the byte offset `offset` on, which is 0 or an `end`."""
        for entry in islice(self._journal.entries(offset), limit):
            if entry.record is not None:
                yield LoggedEvent(end=entry.end, fields=entry.record)

    def newest(self, count: int | None) -> list[dict[str, Any]]:
        """Return the newest `count` events, oldest first; all of them if `count` is None.

        A damaged line becomes "unreadable".
        """
        entries = self._journal.entries() if count is None else self._journal.tail(count)
        return [
            entry.record
            if entry.record is not None
            else {"event": "unreadable", "error": entry.problem, "task": {}, "worktree": {}}
            for entry in entries
        ]
