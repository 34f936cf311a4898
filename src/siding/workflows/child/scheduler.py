"""Run coroutines one at a time, in an order that depends only on the order of the results.

This is far less than `asyncio`: no clock, no threads, no cancellation. A coroutine waits for a
`Future`; the one whose future was settled first goes on first.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from siding.workflows.child.lanes import Lane


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
