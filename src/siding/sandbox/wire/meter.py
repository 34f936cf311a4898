"""The proxy that measures: it stands in for one server, on loopback, for one run.

Every byte goes on as it came, at once, compressed or not; only the head of a request names the
server instead of us. A client's connection is one connection to the server: what ends one ends the
other, in the same way. What is measured is read from a copy (`exchange`).

Who does not know the secret in the path gets 404 and nothing else: others may connect to loopback.
"""

import asyncio
from collections.abc import Callable
from hmac import compare_digest

from siding.ground.namedtuples import NamedTuple
from siding.record.wire.journal import Ending, Passed, WireJournal
from siding.sandbox.wire.ends import End, Reach, Server, Unreachable
from siding.sandbox.wire.exchange import Exchange, FailedBodies, SocketCalls
from siding.sandbox.wire.heads import BadHead, RequestHead, RequestReader, plain_answer
from siding.sandbox.wire.spec import Route

HEAD_S = 30.0  # a head that takes longer is not waited for
_CONNECTING, _AHEAD = "connecting", "ahead"


class Metering(NamedTuple):
    """What all connections of a run share."""

    reach: Reach
    journal: WireJournal
    failed: FailedBodies
    at: Callable[[], str]  # the time, as ISO 8601
    now: Callable[[], float]  # milliseconds that only grow
    is_ours: Callable[[int, int], bool]  # whether a connection between two ports is of this user


class MeterRelay:
    """One connection of a client, and the one to the server that goes with it."""

    def __init__(self, route: Route, metering: Metering) -> None:
        self._route, self._of = route, metering
        self._to = Server(route.host, route.port, tls=route.tls, via=route.via)
        self.client = End(self)
        self._server = End(self)
        self.client.other, self._server.other = self._server, self.client
        self._request = RequestReader()
        self._exchange: Exchange | None = None
        self._task: asyncio.Task[None] | None = None
        self._unsent: list[bytes] = []  # while the server is not reached
        self._ahead = b""  # what came behind a request that has no answer yet
        self._calls: SocketCalls | None = None  # of another protocol, once that is spoken
        self._is_last = False  # the server hangs up behind its answer
        self._patience: asyncio.TimerHandle | None = None

    def met(self, end: End) -> None:
        if end is self.client:
            if not self._of.is_ours(*end.ports):
                end.reset()
                return
            self._wait_for_head()

    def got(self, end: End, data: bytes) -> None:
        if end is self._server:
            self._from_server(data)
        elif self._calls is not None:
            self._server.write(data)
            self._calls.sends(data)
        elif self._exchange is None and not self._is_last:
            self._from_client(data)
        else:
            self._rest(data)

    def lost(self, end: End, error: Exception | None) -> None:
        exchange = self._exchange
        if end is self.client:
            self._stop_waiting()
            self._end_calls(Ending.LEFT)
            if exchange is not None:
                self._over(exchange, Ending.WHOLE if exchange.is_over else Ending.LEFT)
            if self._task is not None:
                self._task.cancel()
            self._server.end_like(error)
            return
        self._end_calls(Ending.CUT)
        if exchange is not None:
            is_whole = exchange.is_over
            exchange.receives(b"")
            is_whole = is_whole or (exchange.is_over and error is None)
            self._over(exchange, Ending.WHOLE if is_whole else Ending.CUT)
        self.client.end_like(error)

    def _from_client(self, data: bytes) -> None:
        try:
            found = self._request.head(data)
        except BadHead as bad:
            self._answer(bad.status, str(bad))
            return
        if found is None:
            self._wait_for_head()
            return
        self._stop_waiting()
        head, rest = found
        target = self._without_secret(head.target)
        if target is None:
            self._answer(404, "there is nothing")
            return
        self._begin(head, target)
        self._send(head.redirected(target, self._route.authority))
        if rest:
            self._rest(rest)

    def _begin(self, head: RequestHead, target: str) -> None:
        self._exchange = Exchange(
            head,
            target,
            self._route.host,
            self._route.port,
            at=self._of.at(),
            now=self._of.now,
            failed=self._of.failed,
        )
        if not self._server.is_open and self._task is None:
            self.client.hold_back(_CONNECTING)
            self._task = asyncio.get_running_loop().create_task(self._connect())

    def _rest(self, data: bytes) -> None:
        """Pass on what follows a head: the body, or the next request, which has to wait."""
        own, rest = b"", data
        if not self._request.is_over:
            try:
                own, rest = self._request.body(data)
            except BadHead:
                own, rest = data, b""  # the server says what it thinks of it
        exchange = self._exchange
        if own:
            if exchange is not None:
                exchange.sends(own)
            self._send(own)
        if rest:
            self._ahead += rest
            self.client.hold_back(_AHEAD)
        if exchange is not None and exchange.is_over:
            self._answered(exchange)

    def _send(self, data: bytes) -> None:
        if self._server.is_open:
            self._server.write(data)
        else:
            self._unsent.append(data)

    async def _connect(self) -> None:
        try:
            await self._of.reach.open(self._to, lambda: self._server)
        except Unreachable as error:
            self._unreachable(str(error))
            return
        for data in self._unsent:
            self._server.write(data)
        self._unsent.clear()
        self.client.go_on(_CONNECTING)

    def _unreachable(self, why: str) -> None:
        if self._exchange is not None:
            self._over(self._exchange, Ending.UNREACHABLE, why)
        self._answer(502, f"{self._route.authority} cannot be reached: {why}")

    def _from_server(self, data: bytes) -> None:
        self.client.write(data)  # first: the copy is read while it is on its way
        if self._calls is not None:
            self._add(self._calls.receives(data))
            return
        exchange = self._exchange
        if exchange is None:
            return
        exchange.receives(data)
        if exchange.response.is_upgraded:
            self._switch(exchange)
        elif exchange.is_over:
            self._answered(exchange)

    def _switch(self, exchange: Exchange) -> None:
        """Pass on both ways what is no HTTP any more."""
        head = exchange.response.head
        assert head is not None
        opened = exchange.passed(Ending.WHOLE)
        calls = SocketCalls(opened, head.extensions, at=self._of.at, now=self._of.now)
        self._exchange, self._calls = None, calls
        if self._ahead:
            self._server.write(self._ahead)
            calls.sends(self._ahead)
        self._add(calls.receives(exchange.response.behind))
        self.client.go_on(_AHEAD)

    def _end_calls(self, ending: Ending) -> None:
        calls, self._calls = self._calls, None
        if calls is not None:
            self._add(calls.ended(ending))

    def _add(self, lines: list[Passed]) -> None:
        for line in lines:
            self._of.journal.add(line)

    def _answered(self, exchange: Exchange) -> None:
        """Take the next request. An answer may be over before the body of its request is sent: the
        rest of it is passed on first."""
        if exchange.response.closes:
            self._is_last = True  # the server hangs up, and so do we then
            self._over(exchange, Ending.WHOLE)
        elif self._request.is_over:
            self._over(exchange, Ending.WHOLE)
            self._next()

    def _next(self) -> None:
        self._request = RequestReader()
        ahead, self._ahead = self._ahead, b""
        self.client.go_on(_AHEAD)
        if ahead:
            self._from_client(ahead)

    def _over(self, exchange: Exchange, ending: Ending, why: str = "") -> None:
        self._exchange = None
        self._of.journal.add(exchange.passed(ending, why))

    def _without_secret(self, target: str) -> str | None:
        """Return the target as the server is asked for it; None if the secret is not in it."""
        _, first, rest = (*target.split("/", 2), "", "")[:3]
        if not compare_digest(first.encode("latin-1"), self._route.secret.encode()):
            return None
        return f"/{rest}"

    def _answer(self, status: int, why: str) -> None:
        self.client.write(plain_answer(status, why))
        self.client.finish()

    def _wait_for_head(self) -> None:
        if self._patience is None:
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(HEAD_S, self.client.reset)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
