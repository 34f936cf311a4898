"""The proxy by which a sandboxed run reaches the hosts of its list, and no others.

A run has no other way out, so it does not matter which programs ask: by CONNECT for a tunnel, or
for one URL of plain HTTP. `Allowance` judges what may be reached: by the list, and by the addresses
that a name leads to. A name is resolved once, and the address that was judged is the one that is
connected to. In a tunnel the first message of TLS has to be for the name that the tunnel was asked
for; on port 443 nothing but TLS passes, on port 80 nothing but requests for that name. What is
inside of TLS nobody here can see.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlsplit

from siding.ground.namedtuples import NamedTuple
from siding.record.wire.journal import Ending, Kind, Passed, WireJournal
from siding.sandbox.wire.ends import End, Reach, Server, Unreachable
from siding.sandbox.wire.heads import (
    BadHead,
    RequestHead,
    RequestReader,
    ResponseReader,
    plain_answer,
    without_hops,
)
from siding.sandbox.wire.hello import hello_in
from siding.sandbox.wire.hosts import TLS_PORT, HostList, address_in, plain_name
from siding.sandbox.wire.spec import CannotGoVia, via_for

HTTP_PORT = 80
_MOST_ADDRESSES = 4  # that are tried
Resolve = Callable[[str, int], Awaitable[list[str]]]
PATIENCE_S = 30.0  # for a head, or for the first message of TLS
_WEBSOCKET = "websocket"
_TUNNELLED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_AHEAD, _NO_MORE = "ahead", "no more"


class Allowance(NamedTuple):
    """What all connections of a run share."""

    hosts: HostList
    reach: Reach
    resolve: Resolve
    journal: WireJournal
    at: Callable[[], str]
    now: Callable[[], float]
    proxies: Mapping[str, str] = {}  # the person's own variables about proxies


class Asked(NamedTuple):
    """A host that somebody asks for."""

    host: str
    port: int

    @classmethod
    def of(cls, authority: str, usual: int) -> "Asked":
        """Return the host in ``HOST:PORT``. Raises BadHead."""
        try:
            parts = urlsplit(f"//{authority}")
            port = usual if parts.port is None else parts.port
        except ValueError:
            raise BadHead("its host cannot be read") from None
        if not parts.hostname or "@" in authority or parts.path or not port:
            raise BadHead("its host cannot be read")
        return cls(plain_name(parts.hostname), port)


class Refused(Exception):
    """A host is not allowed; the message says why. `host` is the one that is to be named."""

    def __init__(self, asked: Asked, why: str) -> None:
        super().__init__(why)
        self.asked = asked


async def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of a name. Raises Unreachable."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Unreachable(f"its name is not known: {error.strerror or error}") from error
    return list(dict.fromkeys(str(each[4][0]) for each in found))


async def places_of(allowance: Allowance, asked: Asked) -> list[Server]:
    """Return where to connect for a host, the best first. Raises Refused and Unreachable.

    Through the person's own proxy names are resolved there, and nobody here sees the address.
    """
    if not allowance.hosts.allows(*asked):
        raise Refused(asked, "not listed")
    try:
        via = via_for(allowance.proxies, asked.host, tls=asked.port != HTTP_PORT)
    except CannotGoVia as error:
        raise Unreachable(str(error)) from None
    if via is not None:
        return [Server(asked.host, asked.port, via=via)]
    if address_in(asked.host) is not None:
        return [Server(asked.host, asked.port, address=asked.host)]
    addresses = await allowance.resolve(*asked)
    good = [each for each in addresses if allowance.hosts.may_lead_to(each)]
    if not good:
        where = ", ".join(addresses[:3]) or "nothing"
        raise Refused(asked, f"its name leads to {where}, which is not public and not listed")
    return [Server(asked.host, asked.port, address=each) for each in good[:_MOST_ADDRESSES]]


class EgressRelay:
    """One connection of a client, and those to the servers that it asks for, one at a time."""

    def __init__(self, allowance: Allowance) -> None:
        self._of = allowance
        self.client = End(self)
        self._server: End | None = None
        self._reached: Asked | None = None  # what the server is
        self._tunnel: Asked | None = None
        self._is_through = False  # nothing is looked at any more
        self._hello = b""
        self._request = RequestReader()
        self._response: ResponseReader | None = None
        self._ahead = b""
        self._task: asyncio.Task[None] | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._began = (allowance.at(), allowance.now())
        self._sent = self._received = 0

    def met(self, end: End) -> None:
        if end is self.client:
            self._wait()

    def got(self, end: End, data: bytes) -> None:
        if end is not self.client:
            if end is self._server:
                self._from_server(data)
        elif self._task is not None:
            self._ahead += data
            self.client.hold_back(_AHEAD)
        elif self._is_through:
            self._send(data)
        elif not self._is_http:
            self._greets(data)
        elif self._response is not None:
            self._rest(data)
        else:
            self._from_client(data)

    def lost(self, end: End, error: Exception | None) -> None:
        if end is self.client:
            self._stop_waiting()
            if self._task is not None:
                self._task.cancel()
            if self._server is not None:
                self._server.end_like(error)
            is_whole = self._is_through or self._is_answered
            self._note(Ending.WHOLE if is_whole else Ending.LEFT)
        elif end is self._server:
            self._server = None
            if self._response is not None:
                is_whole = self._is_answered
                self._response.feed(b"")
                is_whole = is_whole or (self._response.is_over and error is None)
                self._note(Ending.WHOLE if is_whole else Ending.CUT)
            self._note(Ending.WHOLE)
            self.client.end_like(error)

    def _from_client(self, data: bytes) -> None:
        try:
            found = self._request.head(data)
            if found is None:
                self._wait()
                return
            self._stop_waiting()
            head, rest = found
            asked, passed_on = self._wanted(head)
        except BadHead as bad:
            self._answer(bad.status, str(bad))
            return
        except Refused as refused:
            self._refuse(refused)
            return
        self._ahead = rest
        self._began = (self._of.at(), self._of.now())
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._carry_out(head, asked, passed_on))

    def _wanted(self, head: RequestHead) -> tuple[Asked, bytes]:
        """Return the host that a request is for, and the head that it gets.

        Raises BadHead, and Refused for one that names two hosts.
        """
        if head.header("upgrade").lower() not in ("", _WEBSOCKET):
            raise BadHead("it asks for a protocol in which other hosts could be asked for")
        hosts = [Asked.of(each, HTTP_PORT) for each in head.headers_named("host")]
        if head.method == "CONNECT":
            asked = Asked.of(head.target, TLS_PORT)
            for each in hosts:
                if each.host != asked.host:
                    raise Refused(each, f"named in a request for {asked.host}")
            if self._tunnel is not None:
                raise BadHead("a tunnel in a tunnel")
            return asked, b""
        if self._tunnel is not None:
            asked, target = self._tunnel, head.target
            if not target.startswith("/"):
                raise BadHead("in a tunnel only a path is asked for")
        else:
            parts = urlsplit(head.target)
            if parts.scheme.lower() != "http":
                raise BadHead("this is a proxy: it is asked for http://HOST/PATH, or CONNECT")
            asked = Asked.of(parts.netloc, HTTP_PORT)
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if len(hosts) != 1:
            raise BadHead("it has to name its host")
        if hosts[0] != asked:
            raise Refused(hosts[0], f"named in a request for {asked.host}")
        name = f"[{asked.host}]" if ":" in asked.host else asked.host
        shown = name if asked.port == HTTP_PORT else f"{name}:{asked.port}"
        return asked, without_hops(head.redirected(target, shown))

    async def _carry_out(self, head: RequestHead, asked: Asked, passed_on: bytes) -> None:
        try:
            if self._server is None or self._reached != asked:
                await self._meet(asked)
        except Refused as refused:
            self._refuse(refused)
            return
        except Unreachable as error:
            self._line(Kind.TUNNEL, asked, Ending.UNREACHABLE, str(error))
            self._answer(502, f"{asked.host}:{asked.port} cannot be reached: {error}")
            return
        if head.method == "CONNECT":
            self._tunnel = asked
            self._request = RequestReader()
            self.client.write(_TUNNELLED)
            self._wait()
        else:
            self._response = ResponseReader(head)
            self._send(passed_on)
        self._task = None
        ahead, self._ahead = self._ahead, b""
        if ahead:
            self.got(self.client, ahead)
        self.client.go_on(_AHEAD)

    async def _meet(self, asked: Asked) -> None:
        places = await places_of(self._of, asked)
        old, server = self._server, End(self)
        self._server = None
        if old is not None:
            old.other = None
            old.finish()
        self.client.other, server.other = server, self.client
        for place in places:
            try:
                await self._of.reach.open(place, lambda: server)
                break
            except Unreachable:
                if place is places[-1]:
                    raise
        self._server, self._reached = server, asked

    def _greets(self, data: bytes) -> None:
        """Judge the first bytes in a tunnel; until they are judged, the server gets none."""
        assert self._tunnel is not None
        self._hello += data
        hello = hello_in(self._hello)
        if hello is None:
            return
        self._stop_waiting()
        name, port = plain_name(hello.name), self._tunnel.port
        if not hello.is_tls and port == TLS_PORT:
            self._break(Refused(self._tunnel, "on port 443 only TLS is spoken"))
            return
        is_address = address_in(self._tunnel.host) is not None
        if hello.is_tls and name != self._tunnel.host and not (is_address and not name):
            why = f"TLS for another name in a tunnel to {self._tunnel.host}"
            self._break(Refused(Asked(name or "(no name)", port), why))
            return
        self._is_through = True
        self._send(self._hello)
        self._hello = b""

    def _rest(self, data: bytes) -> None:
        """Pass on the body of a request; what follows it has to wait for the answer."""
        rest = data
        if not self._request.is_over:
            try:
                own, rest = self._request.body(data)
            except BadHead:
                self.client.reset()
                return
            self._send(own)
        if rest:
            self._ahead += rest
            self.client.hold_back(_AHEAD)
        if self._is_answered:
            self._next()

    def _from_server(self, data: bytes) -> None:
        self._received += len(data)
        self.client.write(data)
        response = self._response
        if response is None:
            return
        response.feed(data)
        if response.is_upgraded:
            self._is_through, self._response = True, None
        elif response.is_odd:
            # Nobody knows where it ends, so nothing more is passed on to the server.
            self.client.hold_back(_NO_MORE)
        elif response.is_over:
            self._next()

    def _next(self) -> None:
        """Take the next request, if the server does not hang up behind its answer. That may be over
        before the body of its request is sent: the rest of it is passed on first."""
        assert self._response is not None
        if self._response.closes or not self._request.is_over:
            return
        self._note(Ending.WHOLE)
        self._request = RequestReader()
        ahead, self._ahead = self._ahead, b""
        self.client.go_on(_AHEAD)
        if ahead:
            self._from_client(ahead)

    @property
    def _is_answered(self) -> bool:
        return self._response is not None and self._response.is_over

    def _send(self, data: bytes) -> None:
        self._sent += len(data)
        if self._server is not None:
            self._server.write(data)

    def _refuse(self, refused: Refused) -> None:
        self._line(Kind.REFUSED, refused.asked, None, str(refused))
        host, port = refused.asked
        self._answer(403, f"{host}:{port} is no host that this run may reach: {refused}")

    def _break(self, refused: Refused) -> None:
        """End a tunnel: nothing can be answered in it."""
        self._line(Kind.REFUSED, refused.asked, None, str(refused))
        self._reached = None
        self.client.reset()

    def _note(self, ending: Ending) -> None:
        """Write the line about what was reached, once; what comes next is another one."""
        asked, self._response = self._reached, None
        if asked is None or (self._is_http and not self._sent):
            return
        self._line(Kind.TUNNEL, asked, ending, "")
        self._sent = self._received = 0
        if not self._is_http:
            self._reached = None

    @property
    def _is_http(self) -> bool:
        """Whether requests are read, in a tunnel to port 80 as well as without one."""
        return self._tunnel is None or self._tunnel.port == HTTP_PORT

    def _line(self, kind: Kind, asked: Asked, ending: Ending | None, why: str) -> None:
        at, began = self._began
        line = Passed(
            at=at,
            kind=kind,
            host=_shown(asked.host),
            port=asked.port,
            ended="" if ending is None else ending.value,
            ms=round(self._of.now() - began),
            sent=self._sent,
            received=self._received,
            why=_shown(why),
        )
        self._of.journal.add(line)

    def _answer(self, status: int, why: str) -> None:
        self.client.write(plain_answer(status, why))
        self.client.finish()

    def _wait(self) -> None:
        if self._patience is None:
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(PATIENCE_S, self.client.reset)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


def _shown(text: str) -> str:
    """Return what a client has said, harmless and not long."""
    return "".join(each if each.isprintable() else "?" for each in text)[:300]
