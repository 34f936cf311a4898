"""The live stream: what changes reaches every open page, at a cost that follows what changed.

What happens in this process is heard of, and looked at when it is over. What other processes do is
seen by the stamps of files, four times a second, while somebody is watching and not otherwise; only
what has grown is read. A topic does its work once, however many follow it: they
are handed the same bytes. A follower that cannot keep up is told to look again, and never slows
the others.

Topics: ``project`` (its board, decisions, everything in `events.jsonl`),
``output.<task>.<step>.<stream>`` (a running step's output, as rows of HTML), ``workflows`` (the
runs of workflows that are at work) and ``workflow.<run>.<weight>`` (one of them, as parts of its
page).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from siding.faces.web.following import OutputFollower, ProjectFollower
from siding.faces.web.workflows.following import RunFollower, RunsFollower
from siding.record.place.listeners import Heard, Listeners
from siding.record.place.project import Project

LOOK_EVERY_S = 0.25
HEARTBEAT_S = 15.0
QUEUE = 64


class Follower(Protocol):
    """What looks at files for a topic. Called in a thread, never twice at once."""

    def look(self) -> list[dict[str, Any]]:
        """Return what is new since the last look."""
        ...

    def whole(self) -> list[dict[str, Any]]:
        """Return what somebody who comes now has to know."""
        ...


class Hub:
    """All topics that somebody follows."""

    def __init__(self, project: Callable[[], Project], listeners: Listeners) -> None:
        self._project = project
        self._topics: dict[str, Topic] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        listeners.subscribe(self._hear)

    async def stream(self, names: Sequence[str]) -> AsyncIterator[bytes]:
        """Yield the messages of these topics as server-sent events, for ever."""
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes] = asyncio.Queue(maxsize=QUEUE)
        joined: list[Topic] = []
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
            for topic in joined:
                topic.leave(queue)
                if not topic.count:
                    self._topics.pop(topic.name, None)

    def _hear(self, _heard: Heard) -> None:
        """Have the topics look now. Called in the thread of the act."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the dashboard ends, and its loop is closed already
                loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for topic in self._topics.values():
            topic.wake()

    def _follower(self, name: str) -> Follower:
        kind, *words = name.split(".")
        if kind == "output":
            return OutputFollower(self._project(), words[0], words[1], words[2])
        if kind == "workflow":
            return RunFollower(self._project(), words[0], words[1])
        if kind == "workflows":
            return RunsFollower(self._project())
        return ProjectFollower(self._project())


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
