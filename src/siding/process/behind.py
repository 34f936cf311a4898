"""Work on much data beside the thread that reads it, in order, and never much of it waiting."""

import sys
from collections.abc import Callable

_WAITING = 4  # pieces
_SWITCH_S = 0.0005  # a thread that has written a piece should not wait for the interpreter


class Behind:
    """A thread that does `act` with one piece after the other."""

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
        """Hand over a piece; waits while too many are waiting."""
        self._room.get()
        self._pieces.put(piece)

    def end(self) -> None:
        """Wait until everything is done. Nothing may be handed over afterwards.

        Raises what `act` raised; pieces after that one were not acted on.
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
            except Exception as error:  # noqa: BLE001 - whoever waits for us is told, by `end`
                self._failure = error
            self._room.put(None)
