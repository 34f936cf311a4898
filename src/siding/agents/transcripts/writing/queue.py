"""Write lines in the background, in order, without dropping any.

One thread appends all waiting lines of a file in one flush. When the queue is full, `add` blocks.
If writing fails, the lines stay in the queue, and the next `flush`, or an `add` to the full queue,
raises the error; each `flush` tries to write again.
"""

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Condition, Thread

MAX_WAITING_LINES = 1000
MAX_WAITING_BYTES = 16 * 1024 * 1024

Append = Callable[[Path, Sequence[bytes]], None]


class WriteQueue:
    """A queue of lines for any number of files. It has one thread, which `close` ends."""

    def __init__(self, append: Append, *, max_lines: int = MAX_WAITING_LINES) -> None:
        self._append = append
        self._max_lines = max_lines
        self._waiting: deque[tuple[Path, bytes]] = deque()
        self._bytes = 0
        self._in_hand = False
        self._error: BaseException | None = None
        self._closed = False
        self._changed = Condition()
        self._thread = Thread(target=self._work, name="transcript writer", daemon=True)
        self._thread.start()

    def add(self, path: Path, lines: Sequence[bytes]) -> None:
        """Queue the lines. Block while the queue is full; raise the error that stopped writing."""
        with self._changed:
            assert not self._closed, "the queue is closed"
            for line in lines:
                while self._is_full() and self._error is None:
                    self._changed.wait()
                if self._error is not None and self._is_full():
                    raise self._error
                self._waiting.append((path, line))
                self._bytes += len(line)
                self._changed.notify_all()

    def flush(self) -> None:
        """Return when all lines are stored; raise the error that keeps them from being stored."""
        with self._changed:
            self._error = None
            self._changed.notify_all()
            while (self._waiting or self._in_hand) and self._error is None:
                self._changed.wait()
            if self._error is not None:
                raise self._error

    def close(self) -> None:
        """Flush and end the thread. If flushing fails, raise its error; the queue stays open."""
        if self._closed:
            return
        self.flush()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def abandon(self) -> None:
        """End the thread and drop the lines that wait. Call it after `close` raised their error."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _is_full(self) -> bool:
        return len(self._waiting) >= self._max_lines or self._bytes >= MAX_WAITING_BYTES

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._closed and (not self._waiting or self._error is not None):
                    self._changed.wait()
                if self._closed:
                    return
                path = self._waiting[0][0]
                batch: list[bytes] = []
                for where, line in self._waiting:
                    if where != path:
                        break
                    batch.append(line)
                self._in_hand = True  # `flush` must not return while these are being written
            error: BaseException | None = None
            try:
                self._append(path, batch)
            except BaseException as failure:  # noqa: BLE001 - `flush` and `add` raise it
                error = failure
            with self._changed:
                self._in_hand = False
                self._error = error
                if error is None:
                    for line in batch:
                        self._waiting.popleft()
                        self._bytes -= len(line)
                self._changed.notify_all()
