"""What a handler is given: what all share of a dashboard, the project as it is now, the fields."""

import asyncio
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from starlette.requests import Request

from siding.asking.devices.desk import DeviceDesk
from siding.asking.devices.device import Device
from siding.asking.screens import OpenScreen
from siding.faces.web.feed_watch import FeedWatch
from siding.faces.web.live import Hub, Stamps, TopicKind, stamps_of
from siding.faces.web.nonces import Nonces
from siding.faces.web.text import inert
from siding.feed.fold import HomeFold
from siding.feed.model import Ask as FeedAsk
from siding.feed.model import Feed
from siding.feed.overview import Total, asks_of, total_change
from siding.feed.workflow_runs import RunSummaries
from siding.ground.errors import NotFound, UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.dashboard import Tickets
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import App
from siding.record.recording.steps import Step, log, running_step
from siding.record.recording.steps import step as find_step

_VIEWS_KEPT = 16
_TOTALS_KEPT = 4096


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
        self.screen = OpenScreen(app.home)
        here = self._watched.layout.root.name
        self.hub = Hub(
            self.project,
            app.listeners,
            topics,
            self.screen.has_eyes,
            lambda tell: FeedWatch(app, here, lambda: self._feed, tell),
        )
        self.views = Views()
        self.workflow_runs = RunSummaries()
        self._fold = HomeFold(app)
        self._folding = threading.Lock()
        self._feed: Feed | None = None
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

    def feed(self) -> Feed:
        """Return everything as it is now: what this process did a moment ago is in it."""
        with self._folding:
            self._fold.touched(())
            self._feed = self._fold.look()
            return self._feed

    def asks_of_task(self, project: Project, task_id: str) -> list[FeedAsk]:
        """Return what waits for a person in a task, longest waiting first."""
        return [each for each in asks_of(project, self.feed()) if each.entry.task_id == task_id]

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


class Ask(NamedTuple):
    """One request of a browser or a program."""

    site: Site
    project: Project
    words: Mapping[str, str]  # parameters of the path
    query: Mapping[str, str]
    device: Device | None = None  # the paired device that has signed the request

    @property
    def task_id(self) -> TaskId:
        """The id of the task in the path; raises NotFound when there is no such task."""
        return self.site.task_id(self.project, self.words["task"])

    def number(self, name: str, default: int, *, most: int = 1 << 53) -> int:
        """Return a number of the query, from 0 to `most`; raise UsageError for anything else."""
        text = self.query.get(name, "")
        if not text:
            return default
        if not text.isascii() or not text.isdigit() or int(text) > most:
            raise UsageError(f"{name} must be a number from 0 to {most}")
        return int(text)

    def choice(self, name: str, *choices: str) -> str:
        """Return a word of the query; the first of `choices` when it is not given."""
        word = self.query.get(name, choices[0])
        if word not in choices:
            raise UsageError(f"{name} must be one of {', '.join(choices)}")
        return word


async def read_object(request: Request) -> dict[str, Any]:
    """Return the body as a JSON object; raise UsageError for any other body."""
    return object_in(await request.body())


def object_in(raw: bytes) -> dict[str, Any]:
    """Return bytes as a JSON object; raise UsageError for anything else."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        raise UsageError("the body is not JSON") from None
    if not isinstance(value, dict):
        raise UsageError("the body is not a JSON object")
    return value


class Fields:
    """The fields of a body. Read each one, then call `done`, which refuses unknown fields.

    A misspelled field would otherwise be ignored. All methods raise UsageError.
    """

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._rest = dict(body)

    def text(self, name: str, default: str | None = None, *, longest: int = 10_000) -> str:
        """Return a text; without a default the field is required."""
        value = self._take(name, default)
        if not isinstance(value, str) or len(value) > longest or "\0" in value:
            raise UsageError(f"{name} must be a text of at most {longest} characters")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{name} is not valid Unicode") from None
        return value

    def flag(self, name: str) -> bool:
        """Return true or false; false when the field is not given."""
        value = self._take(name, False)
        if not isinstance(value, bool):
            raise UsageError(f"{name} must be true or false")
        return value

    def number(self, name: str, *, most: int = 1 << 31) -> int | None:
        """Return a whole number from 0 to `most`; None when the field is not given."""
        if name not in self._rest:
            return None
        value = self._take(name, None)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise UsageError(f"{name} must be a whole number from 0 to {most}")
        return value

    def choice(self, name: str, *choices: str) -> str:
        """Return one of `choices`; the first one when the field is not given."""
        value = self._take(name, choices[0])
        if value not in choices:
            raise UsageError(f"{name} must be one of {', '.join(choices)}")
        return str(value)

    def any(self, name: str) -> Any:
        """Return the value of a required field, of any type."""
        return self._take(name, None)

    def done(self) -> None:
        """Raise UsageError when the body has a field that was not read."""
        if self._rest:
            raise UsageError(f"there is no field {min(self._rest)!r}")

    def _take(self, name: str, default: Any) -> Any:
        value = self._rest.pop(name, default)
        if value is None:
            raise UsageError(f"{name} is missing")
        return value


def newest(ask: Ask, *, before: int, limit: int) -> list[Step]:
    """Return at most `limit` steps before the number `before` (0: all steps), newest first."""
    _task, last = log(ask.project, ask.task_id, limit=1)
    if not last:
        return []
    skip = max(0, last[0].number - before + 1) if before else 0
    _task, found = log(ask.project, ask.task_id, limit=skip + limit)
    kept = [each for each in found if not before or each.number < before]
    return kept[-limit:][::-1] if limit else []


def one_step(ask: Ask) -> Step:
    """Return the step that the path names by its number or its run. Raises NotFound."""
    name = ask.words["step"]
    if len(name) > 10 or not name.removeprefix("r").isdigit():
        raise NotFound(f"there is no step {name!r}")
    running = running_step(ask.project, ask.task_id, name)
    return running[1] if running else find_step(ask.project, ask.task_id, name)[1]
