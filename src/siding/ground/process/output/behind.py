"""The second threads of much output: one writes it, the other makes its digest.

Each takes pieces in order, from a bounded queue.
"""

import sys
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

from siding.ground.hashing import Sha256

_WAITING = 4  # pieces in the queue at most
# CPython hands the interpreter lock to another thread after 5 ms by default. A thread that comes
# back from a write would wait that long for each piece.
_SWITCH_S = 0.0005
_BUFFERS = 4  # of a digest


class Behind:
    """A thread that calls `act` with one piece after the other."""

    def __init__(self, act: Callable[[bytes], None]) -> None:
        self._act = act
        self._failure: Exception | None = None
        self._pieces: SimpleQueue[bytes | None] = SimpleQueue()
        self._room: SimpleQueue[None] = SimpleQueue()
        for _ in range(_WAITING):
            self._room.put(None)
        sys.setswitchinterval(min(_SWITCH_S, sys.getswitchinterval()))
        self._thread = Thread(target=self._work, name="siding-writer", daemon=True)
        self._thread.start()

    def put(self, piece: bytes) -> None:
        """Add a piece to the queue; wait while the queue is full."""
        self._room.get()
        self._pieces.put(piece)

    def end(self) -> None:
        """Wait until all pieces are done. Do not call `put` afterwards.

        Raises what `act` raised; `act` was not called for the pieces after that one.
        """
        self._pieces.put(None)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while (piece := self._pieces.get()) is not None:
            try:
                if self._failure is None:
                    self._act(piece)
            except Exception as error:  # noqa: BLE001 - `end` raises it in the caller's thread
                self._failure = error
            self._room.put(None)


class DigestWorker:
    """The thread that digests, the buffers it has to digest and those that are free again.

    `buffer` is free; `size` is that of the others.
    """

    def __init__(self, digest: Sha256, buffer: bytearray, size: int) -> None:
        self.free: SimpleQueue[bytearray] = SimpleQueue()
        self.filled: SimpleQueue[tuple[bytes | bytearray, int, bytearray] | None] = SimpleQueue()
        self._digest = digest
        for each in (buffer, *(bytearray(size) for _ in range(_BUFFERS - 1))):
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
