"""Collect what begins to wait for a person during an act, and notify them when the act is over.

The notification is delayed because an act often holds the lock of its task, and the command that
the person configured may need this lock.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from siding.record.ledger.kinds import StepStatus
from siding.record.place.event_log import StepRecorded
from siding.record.place.project import Project
from siding.record.place.wiring import Heard

if TYPE_CHECKING:
    from siding.guard.hooks import HookResult
    from siding.record.place.wiring import Event


class Notifier:
    """A context manager that listens to a project's events during one act."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._heard: list[Event] = []
        self._unsubscribe: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        self._unsubscribe = self._project.app.listeners.subscribe(self._hear)
        return self

    def __exit__(self, *_failure: object) -> None:
        assert self._unsubscribe is not None
        self._unsubscribe()

    def deliver(self, *, url: str | None = None) -> "list[HookResult]":
        """Run the person's hooks for the collected events; return the hooks that failed."""
        heard, self._heard = self._heard, []
        if not heard:
            return []
        # Imported here because most acts end well, and this loads the inbox and the hooks.
        from siding.asking.notices import notify_event

        return [failed for event in heard for failed in notify_event(self._project, event, url=url)]

    def _hear(self, heard: Heard) -> None:
        if heard.layout == self._project.layout and _waits(heard.event):
            self._heard.append(heard.event)


def _waits(event: "Event") -> bool:
    """Tell whether an event may need a person: a run that failed, or a question."""
    match event:
        case StepRecorded(step=step):
            ended_badly = step.status != StepStatus.COMPLETED
            expected = step.recovered or step.was_stopped
            return step.as_run is not None and ended_badly and not expected
    return event.name == "decision.asked"
