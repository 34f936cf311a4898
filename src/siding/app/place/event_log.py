"""A project's lifecycle facts: into ``events.jsonl``, and to the listeners in this process.

The payload is the one that other tools of this kind write (event, ts, task, worktree, error); ``v``
and ``at`` are added, and further facts of an event stand beside them. It is a side channel: no
state is read back from it.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from siding.clock import Clock, iso
from siding.storage.journals import Journal
from siding.storage.layout import ProjectLayout

if TYPE_CHECKING:
    from typing import Protocol

    class Event(Protocol):
        """Something that happened. `name` is its word in the journal."""

        @property
        def name(self) -> str: ...

        @property
        def task_id(self) -> str:
            """The task it happened to; "" for none."""

        def record(self) -> dict[str, Any]:
            """Return its fields in the journal: ``task``, ``worktree``, ``error`` and its own."""


Listener = Callable[["Heard"], None]


class Heard(NamedTuple):
    """An event as a listener gets it, with the project in which it happened."""

    layout: ProjectLayout
    event: "Event"


class Listeners:
    """Who is told, in this process, of what happens in any of its projects."""

    def __init__(self) -> None:
        self._all: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each event is in the journal; return what ends that.

        It is called in the thread of the act, often while the task is held: it must be quick, and
        must not raise.
        """
        self._all.append(listener)
        return lambda: self._all.remove(listener)

    def tell(self, heard: Heard) -> None:
        """Pass an event on."""
        for listener in tuple(self._all):
            listener(heard)


class LoggedEvent(NamedTuple):
    """One line of the journal. `end`: the byte offset to go on from."""

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
        """Append one event, and tell the listeners. `ts` is in seconds since 1970."""
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
        """Yield the events from a `LoggedEvent.end` on (0: from the first), whole lines only."""
        for entry in islice(self._journal.entries(offset), limit):
            if entry.record is not None:
                yield LoggedEvent(end=entry.end, fields=entry.record)

    def newest(self, count: int) -> list[dict[str, Any]]:
        """Return the newest `count` events, oldest first; a damaged line says what it is."""
        return [
            entry.record
            if entry.record is not None
            else {"event": "unreadable", "error": entry.problem, "task": {}, "worktree": {}}
            for entry in self._journal.tail(count)
        ]
