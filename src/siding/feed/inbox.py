"""What waits for a person, in all projects or in one: the asks of the feed.

An ask disappears with its cause: after an answer, a next step, a resumed or a newer run of the
workflow, the end of the task, or `siding trust`.
"""

from siding.asking.views import InboxEntry
from siding.feed.fold import HomeFold
from siding.feed.model import Ask
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.wiring import App


class Inbox(NamedTuple):
    """The asks, longest waiting first, and sentences about what could not be read."""

    asks: tuple[Ask, ...]
    problems: tuple[str, ...]

    @property
    def entries(self) -> tuple[InboxEntry, ...]:
        """The asks as lines of a list."""
        return tuple(ask.entry for ask in self.asks)


class InboxReader:
    """Looks at what waits, of all projects of the home or of one; the next look costs less."""

    def __init__(self, app: App, project: Project | None = None) -> None:
        self._fold = HomeFold(app, project)

    def look(self) -> Inbox:
        """Return what waits now. Raises HomeHidden in a sandbox."""
        self._fold.touched(())
        # What an apply would bring is no part of an ask: nothing is counted.
        found = self._fold.look(most_counted=0)
        return Inbox(asks=found.asks, problems=found.problems)


def waiting(app: App) -> Inbox:
    """Return what waits in all projects of the home."""
    return InboxReader(app).look()


def waiting_in(project: Project) -> Inbox:
    """Return what waits in one project. A part that cannot be read does not hide the others."""
    return InboxReader(project.app, project).look()
