"""A value that a thread gives once, or the error in its place.

`concurrent.futures` has such a one, and loads `logging` with it: 1 MB of each host.
"""

from collections.abc import Callable
from threading import Condition
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Promise(Generic[Value]):
    """A value that is not there yet. Its methods may be called in any thread."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._value: tuple[Value] | None = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Promise[Value]], None]] = []

    @property
    def is_kept(self) -> bool:
        """Whether the value or the error is there."""
        return self._value is not None or self._error is not None

    @property
    def error(self) -> BaseException | None:
        """The error in the place of the value, if it is there."""
        return self._error

    def wait(self, timeout_s: float | None = None) -> Value:
        """Return the value as soon as it is there. Raises the error, and TimeoutError."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_kept, timeout_s)
        if self._error is not None:
            raise self._error
        if self._value is None:
            raise TimeoutError
        return self._value[0]

    def keep(self, value: Value) -> None:
        """Give the value. What is given first counts."""
        self._set((value,), None)

    def fail(self, error: BaseException) -> None:
        """Give an error in the place of the value. What is given first counts."""
        self._set(None, error)

    def when_kept(self, call: Callable[["Promise[Value]"], None]) -> None:
        """Have this called once: in the thread that keeps the promise, or now if it is kept."""
        with self._changed:
            if not self.is_kept:
                self._callbacks.append(call)
                return
        call(self)

    def _set(self, value: tuple[Value] | None, error: BaseException | None) -> None:
        with self._changed:
            if self.is_kept:
                return
            self._value, self._error = value, error
            self._changed.notify_all()
            callbacks, self._callbacks = self._callbacks, []
        for call in callbacks:
            call(self)
