"""Do work on a stream of data in a second thread, in order, with a bounded queue."""

import sys
from collections.abc import Callable

_WAITING = 4  # pieces in the queue at most
# CPython hands the interpreter lock to another thread after 5 ms by default. A thread that comes
# back from a write would wait that long for each piece.
_SWITCH_S = 0.0005


class Behind:
    """A thread that calls `act` with one piece after the other."""

    def __init__(self, act: Callable[[bytes], None]) -> None:
        from queue import SimpleQueue  # only much output gets here
        from threading import Thread

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
