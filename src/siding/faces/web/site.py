"""The state that all handlers of one running dashboard share."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from siding.asking.devices.desk import DeviceDesk
from siding.faces.web.live import Hub, Stamps, TopicKind, stamps_of
from siding.faces.web.nonces import Nonces
from siding.faces.web.text import inert
from siding.feed.inbox import waiting_in
from siding.feed.overview import Total, Waiting, total_change
from siding.feed.workflow_runs import RunSummaries
from siding.ground.errors import NotFound
from siding.ground.ids import TaskId
from siding.record.place.dashboard import Tickets
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import App

_VIEWS_KEPT = 16
_TOTALS_KEPT = 4096
_WAITING_KEPT_S = 5


class Site:
    """The project of a dashboard, and its caches, codes and tickets."""

    def __init__(
        self,
        app: App,
        *,
        key: str,
        show: Callable[[str], None],
        topics: Mapping[str, TopicKind],
    ) -> None:
        self.app = app
        self._show = show
        self.nonces = Nonces(show)
        self.tickets = Tickets(self.project(), key)
        self._watched = self.project()
        self.desk = DeviceDesk(app, self._watched.layout.root.name)
        self.hub = Hub(self.project, app.listeners, topics)
        self.views = Views()
        self.workflow_runs = RunSummaries()
        self._waiting: tuple[Any, list[Waiting]] | None = None
        self._totals: OrderedDict[tuple[str, str], Total | None] = OrderedDict()

    def say(self, text: str) -> None:
        """Show a line in the terminal of the dashboard; all of it may come from outside."""
        self._show(inert(" ".join(text.split())))

    def project(self) -> Project:
        """Open the project anew: its settings may have changed since the last request."""
        return require_project(self.app)

    def stamps(self) -> Stamps:
        """Return a value that changes when any file of the project's state changes."""
        return stamps_of(self._watched)

    def waiting(self, project: Project) -> list[Waiting]:
        """Return what waits for a person in the project.

        The answer is cached until the project changes, and for `_WAITING_KEPT_S` seconds at most.
        """
        signature = (self.stamps(), int(time.monotonic() / _WAITING_KEPT_S))
        if self._waiting is None or self._waiting[0] != signature:
            self._waiting = (signature, waiting_of(project))
        return self._waiting[1]

    def task_id(self, project: Project, named: str) -> TaskId:
        """Return the id if a task has it; raise NotFound, so no address becomes part of a path."""
        if named not in project.tasks.ids() and named not in project.tasks.fork_ids():
            raise NotFound(f"there is no task {named!r}")
        return TaskId(named)

    def known_total(self, task_id: str, snapshot: str) -> Total | None:
        """Return the change of a task up to a snapshot if it is cached, else None."""
        return self._totals.get((task_id, snapshot))

    def total(self, task_id: str, snapshot: str) -> Total | None:
        """Return the change of a task up to a snapshot; count it if it is not cached."""
        key = (task_id, snapshot)
        if key not in self._totals:
            self._totals[key] = total_change(self.project(), task_id, snapshot)
            while len(self._totals) > _TOTALS_KEPT:
                self._totals.popitem(last=False)
        return self._totals[key]


class Views:
    """A cache of rendered pages: a page that many browsers show is made once for all of them."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[Any, bytes]] = OrderedDict()
        self._making: dict[Hashable, asyncio.Lock] = {}

    async def get(self, key: Hashable, signature: Any, make: Callable[[], bytes]) -> bytes:
        """Return the page for `key`; `make` runs in a thread if `signature` has changed.

        Requests for the same page wait for the one that makes it.
        """
        lock = self._making.setdefault(key, asyncio.Lock())
        async with lock:
            kept = self._kept.get(key)
            if kept is not None and kept[0] == signature:
                return kept[1]
            try:
                html = await asyncio.to_thread(make)
            except BaseException:
                self._forget(key)
                raise
            self._kept[key] = (signature, html)
            while len(self._kept) > _VIEWS_KEPT:
                self._forget(next(iter(self._kept)))
        return html

    def _forget(self, key: Hashable) -> None:
        self._kept.pop(key, None)
        self._making.pop(key, None)


def waiting_of(project: Project) -> list[Waiting]:
    """Return what waits in tasks of this project, and questions without a task."""
    return [
        Waiting(
            task=each.task_id,
            what=each.title,
            path=each.page,
            about=each.detail,
            since=each.since,
        )
        for each in waiting_in(project).entries
        if each.task_id or each.session_id
    ]
