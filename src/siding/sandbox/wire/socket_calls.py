"""Measure the calls of a model within one WebSocket, from the copies of their bytes. No I/O.

The Responses API can be spoken over one: a message of the client asks, and each message of the
server is an event, until one says that the answer is over. Then the next one is asked. Each such
call is a line of its own, and so is the connection, when it ends.
"""

from collections.abc import Callable

from siding.record.wire.call import Ending, Passed
from siding.sandbox.wire.answers import AnswerReader
from siding.sandbox.wire.exchange import model_in
from siding.sandbox.wire.frames import FrameReader, Kind, MessageReader, NotFrames

_NOT_COUNTED = "it went on in another protocol (WebSocket), in which no call was understood"


class _Call:
    """One call, from its question on."""

    def __init__(self, at: str, began: float, model: str) -> None:
        self.at, self.began, self.model = at, began, model
        self.first: float | None = None
        self.sent = self.received = 0
        self.answer = AnswerReader("text/event-stream", "")


class SocketCalls:
    """Measures one WebSocket. `opened` is the line about the request that opened it."""

    def __init__(
        self,
        opened: Passed,
        extensions: str,
        *,
        at: Callable[[], str],
        now: Callable[[], float],
    ) -> None:
        self._opened, self._at, self._now = opened, at, now
        self._began = now() - opened.ms
        self._asked, self._said = FrameReader(), MessageReader(extensions)
        self._call: _Call | None = None
        self._count = 0
        self._why = ""

    def sends(self, data: bytes) -> None:
        """Take note of what the client sends: its message begins a call."""
        if self._why:
            return
        try:
            frames = self._asked.feed(data)
        except NotFrames as error:
            self._why = str(error)
            return
        for frame in frames:
            if frame.kind >= Kind.CLOSE:
                continue
            if self._call is None:
                model = "" if frame.is_deflated else model_in(frame.payload)
                self._call = _Call(self._at(), self._now(), model)
            self._call.sent += frame.size

    def receives(self, data: bytes) -> list[Passed]:
        """Take note of what the server sends; return the lines of the calls that are over."""
        if self._why:
            return []
        try:
            messages = self._said.feed(data)
        except NotFrames as error:
            self._why = str(error)
            return []
        found = []
        for message in messages:
            call = self._call
            if call is None:
                continue  # nobody has asked
            if call.first is None:
                call.first = self._now()
            call.received += len(message)
            call.answer.take_event(message)
            if call.answer.said.is_finished or call.answer.said.error:
                found.append(self._line(call, Ending.WHOLE))
                self._call = None
        return found

    def ended(self, ending: Ending) -> list[Passed]:
        """Return the lines of the call that is not over, and of the connection. `ending` is who
        has ended it."""
        found = []
        call = self._call
        # Where no call was ever understood, a question is none either.
        if call is not None and (call.answer.said.is_known or self._count):
            found.append(self._line(call, ending))
        why = self._why or ("" if self._count else _NOT_COUNTED)
        ms = round(self._now() - self._began)
        return [*found, self._opened._replace(ms=ms, ended=Ending.WHOLE.value, why=why)]

    def _line(self, call: _Call, ending: Ending) -> Passed:
        self._count += 1
        said = call.answer.said
        return self._opened._replace(
            at=call.at,
            ended=ending.value,
            model=said.model or call.model,
            first_ms=0 if call.first is None else round(call.first - call.began),
            ms=round(self._now() - call.began),
            sent=call.sent,
            received=call.received,
            # Before its first question Codex asks for nothing, so that the server is ready.
            tokens=said.tokens if said.tokens and any(said.tokens) else None,
            error=said.error,
            why="",
        )
