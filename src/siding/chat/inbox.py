"""What other threads have a host's loop do, in the order in which they said it.

What the agent prints comes in the thread of its run. While the loop has much of it still to read,
that thread waits, and with it the agent: so a host needs no more memory for an agent that prints
faster than a disk takes it. The thread does not wait while the loop itself waits for it.
"""

import os
import select
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Condition

_READ = 4096
_MOST_UNREAD = 1 << 20  # bytes of what the agent has printed


class Inbox:
    """Work for the loop. `put` may be called in any thread, all else in the loop's."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        for fd in (self._reading, self._writing):
            os.set_blocking(fd, False)
        self._changed = Condition()
        self._work: deque[tuple[Callable[[], None], int]] = deque()
        self._unread = 0
        self._lets_pass = False

    def __bool__(self) -> bool:
        return bool(self._work)

    def fileno(self) -> int:
        return self._reading

    def put(self, work: Callable[[], None], *, size: int = 0) -> None:
        """Have the loop do something; with a size, wait while it has much to do already."""
        with self._changed:
            if size:
                self._changed.wait_for(lambda: self._lets_pass or self._unread < _MOST_UNREAD)
            self._work.append((work, size))
            self._unread += size
            with suppress(BlockingIOError, OSError):
                os.write(self._writing, b"x")

    def take(self) -> Iterator[Callable[[], None]]:
        """Yield what there is to do, oldest first."""
        with suppress(BlockingIOError):
            os.read(self._reading, _READ)
        while self._work:
            work, size = self._work.popleft()
            yield work
            if size:
                with self._changed:
                    self._unread -= size
                    self._changed.notify_all()

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Let nobody wait for the loop, which waits for them now."""
        self.let_pass()
        yield
        with self._changed:
            self._lets_pass = False

    def let_pass(self) -> None:
        """Let nobody wait for the loop any more."""
        with self._changed:
            self._lets_pass = True
            self._changed.notify_all()

    def wait(self, fds: tuple[int, ...], timeout_ms: float | None) -> frozenset[int]:
        """Wait until there is work, or one of the descriptors can be read; return those."""
        poller = select.poll()
        for fd in (self._reading, *fds):
            poller.register(fd, select.POLLIN)
        return frozenset(fd for fd, _ in poller.poll(timeout_ms))

    def close(self) -> None:
        self.let_pass()
        writing, self._writing = self._writing, -1
        os.close(writing)
        os.close(self._reading)
