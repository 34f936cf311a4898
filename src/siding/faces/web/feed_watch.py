"""Follows the feed while a page is seen, and says which tasks of the project look different.

What the files of a project do not say, a process that was killed, comes this way, and what happens
in other projects, which the inbox shows.
"""

import threading
from collections.abc import Callable

from siding.feed.client import Viewer
from siding.feed.model import Change, Feed, Row, RowKind
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.wiring import App


class Differs(NamedTuple):
    """What looks different: tasks of this project, and whether anything does in any project."""

    tasks: frozenset[str]
    anything: bool


class FeedWatch:
    """Reads the feed in a thread, from `begin` to `end`; `tell` is called there.

    `shown` returns the feed that the newest page was made of: what came between it and the first
    item is told as well.
    """

    def __init__(
        self,
        app: App,
        project: str,
        shown: Callable[[], Feed | None],
        tell: Callable[[frozenset[str]], None],
    ) -> None:
        self._app = app
        self._shown = shown
        self._tell = tell
        self._looks = Looks(project)
        self._viewer: Viewer | None = None

    def begin(self) -> None:
        """Begin to follow; nothing happens if it is followed already."""
        if self._viewer is None:
            self._viewer = Viewer(self._app)
            threading.Thread(
                target=self._follow, args=(self._viewer,), name="siding-feed", daemon=True
            ).start()

    def end(self) -> None:
        """Follow no longer."""
        if self._viewer is not None:
            self._viewer.close()
            self._viewer = None

    def _follow(self, viewer: Viewer) -> None:
        shown = self._shown()
        if shown is not None:
            self._looks.take(shown)
        try:
            for item in viewer.items():
                found = self._looks.take(item)
                if found.anything:
                    self._tell(found.tasks)
        except (SidingError, OSError):
            return  # the pages are told by the stamps of files all the same


class Looks:
    """How everything looked last: a row's mark, and which asks are open. Not what runs print."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._rows: dict[str, Row] = {}
        self._asks: set[str] = set()
        self._is_begun = False

    def take(self, item: Feed | Change) -> Differs:
        """Take in what came; return what looks different since the last item."""
        if isinstance(item, Feed):
            rows = {row.key: row for row in item.rows}
            asks = {ask.id for ask in item.asks}
        else:
            gone = set(item.rows_gone)
            rows = {key: row for key, row in self._rows.items() if key not in gone}
            rows.update((row.key, row) for row in item.rows)
            asks = (self._asks - set(item.asks_gone)) | {ask.id for ask in item.asks}
        before, self._rows = self._rows, rows
        asks_before, self._asks = self._asks, asks
        is_begun, self._is_begun = self._is_begun, True
        if not is_begun:
            return Differs(frozenset(), anything=False)
        differ = {
            key
            for key in before.keys() | rows.keys()
            if key not in before or key not in rows or before[key].mark != rows[key].mark
        }
        found = [rows.get(key) or before[key] for key in differ]
        tasks = frozenset(
            row.id for row in found if row.project == self._project and row.kind is RowKind.TASK
        )
        return Differs(tasks, anything=bool(differ) or asks != asks_before)
