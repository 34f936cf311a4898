"""SHA-256 of a stream in step with it, without slowing it down.

A digest costs about as much as writing the bytes. After the first megabytes it therefore moves
to a thread (hashlib lets go of the interpreter lock), and the buffers it has not finished with
are what bounds the memory. A short run never starts the thread.
"""

from siding.ground.hashing import Sha256

BUFFER_SIZE = 1 << 20
FIRST_SIZE = 1 << 16  # of the first buffer: most commands print little, and a large one costs zeros
_BUFFERS = 4
_INLINE_BYTES = 8 << 20


def grown(buffer: bytearray, size: int) -> bytearray:
    """Return the buffer after one with ``size`` bytes in it: a large one if that was full."""
    return bytearray(BUFFER_SIZE) if size == len(buffer) < BUFFER_SIZE else buffer


class StreamDigest:
    """Digests buffers in the order they are given back.

    The caller borrows a buffer with `lend`, fills it and gives it back with `take`. It may read
    it until it borrows the next one. Or it has bytes of its own and only uses `feed`.
    """

    def __init__(self) -> None:
        self._hash = Sha256()
        self._inline = 0
        self._buffer = bytearray(FIRST_SIZE)
        self._worker: _Worker | None = None

    def add(self, data: bytes) -> None:
        """Digest a few bytes at once; only before the first `take`."""
        self._hash.update(data)

    def lend(self) -> bytearray:
        """Return a buffer to be filled; waits while all are being digested."""
        return self._buffer if self._worker is None else self._worker.free.get()

    def take(self, buffer: bytearray, size: int) -> None:
        """Take a buffer back whose first ``size`` bytes belong to the stream."""
        if self._worker is not None:
            self._worker.filled.put((buffer, size, buffer))
            return
        self._buffer = grown(buffer, size)
        self._at_once(memoryview(buffer)[:size], self._buffer)

    def feed(self, data: bytes) -> None:
        """Digest bytes that are in none of our buffers; waits while there are too many of them."""
        if self._worker is not None:
            self._worker.filled.put((data, len(data), self._worker.free.get()))
            return
        self._at_once(memoryview(data), self._buffer)

    def _at_once(self, data: memoryview, buffer: bytearray) -> None:
        self._hash.update(data)
        self._inline += len(data)
        if self._inline >= _INLINE_BYTES:
            self._worker = _Worker(self._hash, buffer)

    def result(self) -> Sha256:
        """Wait for the thread and return the digest, to which more may be added."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None
        return self._hash


class _Worker:
    """The thread, the buffers it has to digest and those that are free again."""

    def __init__(self, digest: Sha256, buffer: bytearray) -> None:
        from queue import SimpleQueue
        from threading import Thread

        self.free: SimpleQueue[bytearray] = SimpleQueue()
        self.filled: SimpleQueue[tuple[bytes | bytearray, int, bytearray] | None] = SimpleQueue()
        self._digest = digest
        for each in (buffer, *(bytearray(BUFFER_SIZE) for _ in range(_BUFFERS - 1))):
            self.free.put(each)
        self._thread = Thread(target=self._work, name="siding-digest", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self.filled.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (item := self.filled.get()) is not None:
            data, size, free = item
            self._digest.update(memoryview(data)[:size])
            self.free.put(free)
