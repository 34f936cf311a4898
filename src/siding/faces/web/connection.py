"""Connections of the server: uvicorn's, behind the gate, limited in number, time and speed.

At most 64 connections may be open that have not sent the key. When one more comes, the one that has
waited longest without sending a whole request is closed, so that slow strangers keep nobody out. A
burst is allowed for `GRACE_S` seconds, because a browser that opens many pages at once sends the
keys soon. Connections that have sent the key (an open page has one for the live stream) have a
limit of their own.
"""

import asyncio
from typing import Any, ClassVar, Protocol

from uvicorn.protocols.http.h11_impl import H11Protocol

from siding.faces.web.access import HEADERS
from siding.faces.web.guard import LOOPBACK, Gate, RefusedRequest

MAX_STRANGERS = 64  # connections that have not sent the key
MAX_FRIENDS = 512  # connections that have sent it
BURST = 256  # strangers that may be open for GRACE_S
GRACE_S = 0.25
HEAD_S = 5.0  # for the head of a request to arrive
BODY_S = 5.0  # for its body
# After a refusal we read on for so long. Closing a socket with unread bytes makes the kernel send a
# reset, and the client may lose the refusal.
LINGER_S = 0.5
_PHRASES = {
    400: "Bad Request",
    403: "Forbidden",
    405: "Method Not Allowed",
    408: "Request Timeout",
    411: "Length Required",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    421: "Misdirected Request",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
}


class Opener(Protocol):
    """What tells friends from strangers: the key of the dashboard, or the sessions of devices."""

    def opens(self, authorization: bytes | None) -> bool:
        """Return whether this header of a request lets it in now."""
        ...


class Door:
    """All connections of one address. `names` and `scheme` are those of its addresses."""

    def __init__(
        self,
        port: int,
        key: Opener,
        *,
        names: tuple[str, ...] = LOOPBACK,
        scheme: str = "http",
    ) -> None:
        self.port = port
        self.key = key
        self.names = names
        self.scheme = scheme
        self._strangers: dict[GuardedConnection, float] = {}  # when they came, oldest first
        self._friends: dict[GuardedConnection, bytes | None] = {}  # with what they were let in

    def put_out(self) -> None:
        """End the connections of those who would not be let in any more."""
        for connection, authorization in list(self._friends.items()):
            if not self.key.opens(authorization):
                self.leave(connection)
                connection.abort()

    def enter(self, connection: "GuardedConnection") -> bool:
        """Admit a connection; return False when running requests take all places."""
        now = connection.loop.time()
        while (slow := self._slowest(now)) is not None:
            self.leave(slow)
            slow.abort()
        if len(self._strangers) >= BURST:
            return False
        self._strangers[connection] = now
        return True

    def _slowest(self, now: float) -> "GuardedConnection | None":
        """Return the connection to close for a new one; None when there is room."""
        if len(self._strangers) < MAX_STRANGERS:
            return None
        waiting = next((each for each in self._strangers if each.is_waiting), None)
        if waiting is None or len(self._strangers) >= BURST:
            return waiting
        return waiting if now - self._strangers[waiting] >= GRACE_S else None

    def knows(self, connection: "GuardedConnection", authorization: bytes | None) -> bool:
        """Move a connection that has sent the key to the friends; False when there are too many.

        A connection without the key stays a stranger; True is returned for it.
        """
        if not self.key.opens(authorization):
            return True
        if connection in self._friends:
            self._friends[connection] = authorization
            return True
        if len(self._friends) >= MAX_FRIENDS:
            return False
        self._strangers.pop(connection, None)
        self._friends[connection] = authorization
        return True

    def leave(self, connection: "GuardedConnection") -> None:
        """Forget a connection."""
        self._strangers.pop(connection, None)
        self._friends.pop(connection, None)


class GuardedConnection(H11Protocol):
    """One connection. Only bytes that the gate passes reach uvicorn."""

    door: ClassVar[Door]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        door = self.door
        self._gate = Gate(door.port, names=door.names, scheme=door.scheme)
        self._deadline: asyncio.TimerHandle | None = None
        self._refused = False

    @property
    def is_waiting(self) -> bool:
        """Whether no request of this connection is being answered."""
        cycle: Any = self.cycle  # None before the first request
        return cycle is None or bool(cycle.response_complete)

    @property
    def _has_begun_to_answer(self) -> bool:
        return not self.is_waiting and bool(self.cycle.response_started)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if not self.door.enter(self):
            transport.abort()
            return
        self._expect_more(HEAD_S)

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        self.door.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        try:
            passed = self._let_in(data)
        except RefusedRequest as refused:
            self._refuse(refused)
            return
        if not self._gate.is_partial:
            self._expect_nothing()
        elif self._deadline is None:
            self._expect_more(HEAD_S if self._gate.is_partial_head else BODY_S)
        if passed:
            super().data_received(passed)

    def _let_in(self, data: bytes) -> bytes:
        before = self._gate.head
        passed = self._gate.feed(data)
        head = self._gate.head
        if head is not None and head is not before:
            self._expect_nothing()
            if not self.door.knows(self, head.authorization):
                raise RefusedRequest(429, "too many pages are open")
        return passed

    def abort(self) -> None:
        """End the connection at once."""
        self._expect_nothing()
        self.transport.abort()

    def _expect_more(self, seconds: float) -> None:
        self._expect_nothing()
        slow = RefusedRequest(408, "the request took too long")
        self._deadline = self.loop.call_later(seconds, self._refuse, slow)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, refused: RefusedRequest) -> None:
        self._refused = True
        self._expect_nothing()
        self._unset_keepalive_if_required()
        if self._has_begun_to_answer:  # a second response must not be mixed into the first
            self.transport.close()
            return
        self.transport.write(_answer(refused))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_S, self.transport.close)


def connections_of(door: Door) -> type[GuardedConnection]:
    """Return a connection class for one server; uvicorn wants a class, so the door goes in it."""
    return type("Connection", (GuardedConnection,), {"door": door})


def _answer(refused: RefusedRequest) -> bytes:
    body = refused.reason.encode() + b"\n"
    lines = [
        f"HTTP/1.1 {refused.status} {_PHRASES[refused.status]}".encode(),
        *(name + b": " + value for name, value in HEADERS),
        b"content-type: text/plain; charset=utf-8",
        b"content-length: %d" % len(body),
        b"connection: close",
        *([b"allow: GET, HEAD, POST"] if refused.status == 405 else []),
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
