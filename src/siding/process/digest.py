"""SHA-256 of a stream in step with it, without slowing it down.

A digest costs about as much as writing the bytes. After the first megabytes it therefore moves
to a thread (hashlib lets go of the interpreter lock), and the buffers it has not finished with
are what bounds the memory. A short run never starts the thread.
"""

import hashlib
import queue
import threading
from typing import Any

BUFFER_SIZE = 1 << 20
_BUFFERS = 4
_INLINE_BYTES = 8 << 20


class StreamDigest:
    """Digests buffers in the order they are given back.

    The caller borrows a buffer with `lend`, fills it and gives it back with `take`. It may read
    it until it borrows the next one.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._free: queue.SimpleQueue[bytearray] = queue.SimpleQueue()
        self._filled: queue.SimpleQueue[tuple[bytearray, int] | None] = queue.SimpleQueue()
        self._made = 0
        self._inline = 0
        self._thread: threading.Thread | None = None

    def add(self, data: bytes) -> None:
        """Digest a few bytes at once; only before the first `take`."""
        self._hash.update(data)

    def lend(self) -> bytearray:
        """Return a buffer of `BUFFER_SIZE` bytes; waits while all are being digested."""
        limit = 1 if self._thread is None else _BUFFERS
        if self._made < limit and self._free.empty():
            self._made += 1
            return bytearray(BUFFER_SIZE)
        return self._free.get()

    def take(self, buffer: bytearray, size: int) -> None:
        """Take a buffer back whose first ``size`` bytes belong to the stream."""
        if self._thread is not None:
            self._filled.put((buffer, size))
            return
        self._hash.update(memoryview(buffer)[:size])
        self._free.put(buffer)
        self._inline += size
        if self._inline >= _INLINE_BYTES:
            self._thread = threading.Thread(target=self._work, name="siding-digest", daemon=True)
            self._thread.start()

    def result(self) -> Any:
        """Wait for the thread and return the hash object, to which more may be added."""
        if self._thread is not None:
            self._filled.put(None)
            self._thread.join()
            self._thread = None
        return self._hash

    def _work(self) -> None:
        while (item := self._filled.get()) is not None:
            buffer, size = item
            self._hash.update(memoryview(buffer)[:size])
            self._free.put(buffer)
