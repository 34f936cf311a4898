"""The functions in this process that are called for each event, and what they get."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.layout import ProjectLayout

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
    """An event as a listener gets it, with the files of its project."""

    layout: ProjectLayout
    event: "Event"


class Listeners:
    """The functions in this process that are called for each event of any project."""

    def __init__(self) -> None:
        self._all: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each event was written; return a function that unsubscribes it.

        It is called in the thread of the act, often while the task is locked. So it must be fast
        and must not raise.
        """
        self._all.append(listener)
        return lambda: self._all.remove(listener)

    def tell(self, heard: Heard) -> None:
        """Call every listener with an event."""
        for listener in tuple(self._all):
            listener(heard)
