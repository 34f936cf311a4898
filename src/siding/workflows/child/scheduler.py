"""Run coroutines one at a time, in an order that depends only on the order of the results.

This is far less than `asyncio`: no clock, no threads, no cancellation. A coroutine waits for a
`Future`; the one whose future was settled first goes on first.

A script's body is one lane, whose calls are ``0``, ``1``, ``2``. A call that starts several things
at once opens a lane for each: ``parallel`` at ``2`` opens ``2.0``, ``2.1``, …, whose calls are
``2.0/0``, ``2.0/1``, and so on. Each lane counts for itself, so a path says where in the script a
call stands, and never when it was made.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import Any


class Lane:
    """A sequence of calls. `phase` is the one that its agents belong to.

    A lane is stale when a call in it, or in a lane around it, did not come out as it is recorded:
    what follows is then not taken from the record. It is undecided while that is not known yet.
    """

    __slots__ = ("_is_stale", "_next", "_waiting", "depth", "parent", "path")

    def __init__(self, path: str = "", parent: "Lane | None" = None, *, depth: int = 0) -> None:
        self.path = path
        self.parent = parent
        self.depth = depth  # how many workflows are around this one
        self._next = 0
        self._is_stale = False
        self._waiting = 0

    def take(self) -> str:
        """Return the path of the next call."""
        number = self._next
        self._next += 1
        return f"{self.path}/{number}" if self.path else str(number)

    def open(self, call: str, key: object, *, deeper: int = 0) -> "Lane":
        """Return a new lane within this one, opened by a call."""
        return Lane(f"{call}.{key}", self, depth=self.depth + deeper)

    def is_stale(self) -> bool:
        """Tell whether what is recorded of the calls to come no longer counts."""
        lane: Lane | None = self
        while lane is not None:
            if lane._is_stale:
                return True
            lane = lane.parent
        return False

    def is_undecided(self) -> bool:
        """Tell whether a call before this point is being made again, and may change the rest."""
        lane: Lane | None = self
        while lane is not None:
            if lane._waiting:
                return True
            lane = lane.parent
        return False

    def turn_stale(self) -> bool:
        """Let nothing recorded count from here on; False if it already was so."""
        was = self.is_stale()
        self._is_stale = True
        return not was

    def begin_deciding(self) -> None:
        """Let later calls wait until `end_deciding`."""
        self._waiting += 1

    def end_deciding(self) -> None:
        """Let later calls go on."""
        self._waiting -= 1


class Future:
    """A result that is not there yet. A coroutine awaits it, any number of times."""

    __slots__ = ("_error", "_observers", "_value", "is_done", "was_awaited")

    def __init__(self) -> None:
        self.is_done = False
        self.was_awaited = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._observers: list[Callable[[Future], None]] = []

    def settle(self, value: Any) -> None:
        """Give the result."""
        self._finish(value, None)

    def fail(self, error: BaseException) -> None:
        """Give an error in the place of a result."""
        self._finish(None, error)

    def result(self) -> Any:
        """Return the result, or raise the error."""
        if self._error is not None:
            raise self._error
        return self._value

    def when_done(self, observer: "Callable[[Future], None]") -> None:
        """Call `observer` with this future when it is done; at once if it is."""
        if self.is_done:
            observer(self)
        else:
            self._observers.append(observer)

    def __await__(self) -> "Generator[Future, None, Any]":
        self.was_awaited = True
        if not self.is_done:
            yield self
        return self.result()

    def _finish(self, value: Any, error: BaseException | None) -> None:
        assert not self.is_done
        self.is_done, self._value, self._error = True, value, error
        observers, self._observers = self._observers, []
        for observer in observers:
            observer(self)


class Scheduler:
    """Runs coroutines, each in a lane."""

    def __init__(self) -> None:
        self.lane = Lane()  # of the coroutine that runs now
        self._ready: deque[tuple[Coroutine[Any, Any, Any], Lane, Future]] = deque()

    def start(self, coroutine: Coroutine[Any, Any, Any], lane: Lane) -> Future:
        """Let a coroutine run in a lane; return the future of its result."""
        future = Future()
        self._ready.append((coroutine, lane, future))
        return future

    def run_ready(self) -> None:
        """Run every coroutine until it waits for something or ends."""
        while self._ready:
            self._step(*self._ready.popleft())

    def _step(self, coroutine: Coroutine[Any, Any, Any], lane: Lane, future: Future) -> None:
        self.lane = lane
        try:
            awaited = coroutine.send(None)
        except StopIteration as stop:
            future.settle(stop.value)
            return
        except Exception as error:
            future.fail(error)
            return
        if not isinstance(awaited, Future):
            kind = type(awaited).__name__
            coroutine.close()
            future.fail(TypeError(f"a workflow cannot await a {kind}; await agent(), parallel() …"))
            return
        awaited.when_done(lambda _done: self._ready.append((coroutine, lane, future)))
