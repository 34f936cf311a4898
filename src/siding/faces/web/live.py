"""The live stream: what changes reaches every open page, at a cost that follows what changed.

What happens in this process is heard of, and looked at when it is over. What other processes do is
seen by the stamps of files, four times a second, while somebody is watching and not otherwise; only
what has grown is read. A topic does its work once, however many follow it: they
are handed the same bytes. A follower that cannot keep up is told to look again, and never slows
the others.

Topics: ``project`` (its board, decisions, everything in `events.jsonl`),
``output.<task>.<step>.<stream>`` (a running step's output, as rows of HTML), ``workflows`` (the
runs of workflows that are at work) and ``workflow.<run>.<weight>`` (one of them, as parts of its
page). `table.py` says who follows each.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from siding.faces.web.feed_watch import FeedWatch
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.wiring import Heard, Listeners

LOOK_EVERY_S = 0.25
HEARTBEAT_S = 15.0
QUEUE = 64
_MOST_EVENTS = 500
Stamps = tuple[tuple[int, int], ...]


class Follower(Protocol):
    """What looks at files for a topic. Called in a thread, never twice at once."""

    def look(self) -> list[dict[str, Any]]:
        """Return what is new since the last look."""
        ...

    def whole(self) -> list[dict[str, Any]]:
        """Return what somebody who comes now has to know."""
        ...


class TopicKind(NamedTuple):
    """A kind of topic: who follows one, given the project and the words of its name."""

    follow: Callable[..., Follower]
    takes: Callable[[list[str]], bool] = lambda words: not words  # are these words a name of one?


class Hub:
    """All topics that somebody follows. `seen` is told whether any page is visible."""

    def __init__(
        self,
        project: Callable[[], Project],
        listeners: Listeners,
        kinds: Mapping[str, TopicKind],
        seen: Callable[[bool], None] = lambda _is_seen: None,
        feed: Callable[[Callable[[frozenset[str]], None]], FeedWatch] | None = None,
    ) -> None:
        self._project = project
        self._kinds = kinds
        self._topics: dict[str, Topic] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._seen = seen
        self._streams = 0
        self.differed = 0  # how often the feed said that something looks different
        self._feed = None if feed is None else feed(self._differ)
        listeners.subscribe(self._hear)

    async def stream(self, names: Sequence[str]) -> AsyncIterator[bytes]:
        """Yield the messages of these topics as server-sent events, for ever."""
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes] = asyncio.Queue(maxsize=QUEUE)
        joined: list[Topic] = []
        self._come_and_go(1)  # a page closes its stream while it is hidden
        try:
            for name in names:
                topic = self._topics.get(name) or Topic(name, self._follower(name))
                self._topics[name] = topic
                joined.append(topic)
                await topic.join(queue)
            yield b": here\n\n"
            while True:
                try:
                    yield await asyncio.wait_for(queue.get(), HEARTBEAT_S)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self._come_and_go(-1)
            for topic in joined:
                topic.leave(queue)
                if not topic.count:
                    self._topics.pop(topic.name, None)

    def _come_and_go(self, pages: int) -> None:
        """Count the pages that are visible; as long as there is one, the feed is followed."""
        self._streams += pages
        self._seen(self._streams > 0)
        if self._feed is not None:
            (self._feed.begin if self._streams else self._feed.end)()

    def _differ(self, tasks: frozenset[str]) -> None:
        """Tell the pages which tasks look different. Called in the thread of the feed."""
        self.differed += 1
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the dashboard ends
                loop.call_soon_threadsafe(self._say_changed, sorted(tasks))

    def _say_changed(self, tasks: list[str]) -> None:
        topic = self._topics.get("project")
        if topic is not None:
            topic.say({"changed": {"tasks": tasks, "events": []}})

    def _hear(self, _heard: Heard) -> None:
        """Have the topics look now. Called in the thread of the act."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the dashboard ends, and its loop is closed already
                loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for topic in self._topics.values():
            topic.wake()

    def knows(self, name: str) -> bool:
        """Return whether this is the name of a topic."""
        kind, *words = name.split(".")
        return kind in self._kinds and self._kinds[kind].takes(words)

    def _follower(self, name: str) -> Follower:
        kind, *words = name.split(".")
        return self._kinds[kind].follow(self._project(), *words)


class Topic:
    """One thing that is followed by any number of pages."""

    def __init__(self, name: str, follower: Follower) -> None:
        self.name = name
        self._follower = follower
        self._queues: set[asyncio.Queue[bytes]] = set()
        self._looking: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._woken = asyncio.Event()

    @property
    def count(self) -> int:
        """How many follow it."""
        return len(self._queues)

    async def join(self, queue: "asyncio.Queue[bytes]") -> None:
        """Send what there is to this follower, and from now on what comes."""
        async with self._turn:  # nothing new may come between the two
            for message in await asyncio.to_thread(self._follower.whole):
                queue.put_nowait(self._encoded(message))
            self._queues.add(queue)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())

    def say(self, message: dict[str, Any]) -> None:
        """Send a message that no follower has found."""
        self._send(self._encoded(message))

    def wake(self) -> None:
        """Look at once, instead of in a moment."""
        self._woken.set()

    def leave(self, queue: "asyncio.Queue[bytes]") -> None:
        """Send nothing more to this follower."""
        self._queues.discard(queue)
        if not self._queues and self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def _look(self) -> None:
        while True:
            self._woken.clear()
            async with self._turn:
                for message in await asyncio.to_thread(self._follower.look):
                    self._send(self._encoded(message))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), LOOK_EVERY_S)

    def _send(self, data: bytes) -> None:
        for queue in self._queues:
            try:
                queue.put_nowait(data)
            except asyncio.QueueFull:
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait(self._encoded({"lost": True}))

    def _encoded(self, message: dict[str, Any]) -> bytes:
        text = json.dumps({"topic": self.name, **message}, ensure_ascii=True)
        return b"data: " + text.encode() + b"\n\n"


class ProjectFollower:
    """Tells which tasks something happened to."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._stamps = stamps_of(project)
        self._read_to = self._stamps[0][1]

    def look(self) -> list[dict[str, Any]]:
        stamps = stamps_of(self._project)
        if stamps == self._stamps:
            return []
        before, self._stamps = self._stamps, stamps
        events: list[str] = []
        tasks: set[str] = set()
        if stamps[0] != before[0]:
            for record in self._project.events.since(self._read_to, limit=_MOST_EVENTS):
                self._read_to = record.end
                events.append(str(record.fields.get("event", "")))
                task = record.fields.get("task")
                if isinstance(task, dict) and task.get("id"):
                    tasks.add(str(task["id"]))
        return [{"changed": {"tasks": sorted(tasks), "events": events[-50:]}}]

    def whole(self) -> list[dict[str, Any]]:
        return []


def stamps_of(project: Project) -> Stamps:
    """Return when the files changed of which at least one changes with everything that happens."""
    names = (
        "events.jsonl",
        "state.json",
        "worktrees.json",
        "decisions",
        "trust.json",
        "freed.jsonl",
    )
    return tuple(_stamp(project.layout.root / name) for name in names)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
