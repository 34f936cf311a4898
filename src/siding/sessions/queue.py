"""Write lines behind the caller's back, in order, without ever losing one.

One thread takes what has gathered and appends it in one flush. When more waits than may wait, the
caller waits too: it is slowed, nothing is dropped. What could not be written stays queued and the
error is raised to whoever waits, adds or flushes next; a later flush tries again.
"""

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Condition, Thread

MAX_WAITING_LINES = 1000
MAX_WAITING_BYTES = 16 * 1024 * 1024

Append = Callable[[Path, Sequence[bytes]], None]


class WriteQueue:
    """A queue of lines for any number of files. Close it; until then one thread is alive."""

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
        """Queue the lines; blocks while too much waits. Raises what stopped the writing."""
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
        """Return when all that was added is stored; raise what keeps it from being stored."""
        with self._changed:
            self._error = None
            self._changed.notify_all()
            while (self._waiting or self._in_hand) and self._error is None:
                self._changed.wait()
            if self._error is not None:
                raise self._error

    def close(self) -> None:
        """Flush and end the thread. When flushing fails, the queue stays open."""
        if self._closed:
            return
        self.flush()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def abandon(self) -> None:
        """End the thread without storing what still waits; the one who closes was told why."""
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
                self._in_hand = True
            error: BaseException | None = None
            try:
                self._append(path, batch)
            except BaseException as failure:  # noqa: BLE001 - raised to the one who waits
                error = failure
            with self._changed:
                self._in_hand = False
                self._error = error
                if error is None:
                    for line in batch:
                        self._waiting.popleft()
                        self._bytes -= len(line)
                self._changed.notify_all()
