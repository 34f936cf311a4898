"""The two ends of a connection that passes through: how one is reached, whose the other is.

A server is reached directly or through the person's own proxy, with TLS or without. Each end tells
the relay between them.

Whose a connection over loopback is, the kernel says of the client's own socket. It is asked about
this one socket (`sock_diag`). Its table in /proc would tell as well, but reading that took 70 ms
here, because the kernel walks through all places where a socket could be.
"""

import asyncio
import os
import socket
import struct
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from siding.ground.namedtuples import NamedTuple
from siding.sandbox.wire.spec import Via

if TYPE_CHECKING:
    import ssl

_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset
_PASSED_ON = frozenset({ConnectionResetError, ConnectionAbortedError})
_SOCK_DIAG, _BY_FAMILY, _ERROR, _REQUEST = 4, 20, 2, 1
_HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port
_ASKED = struct.Struct("=BBBxI")  # family, protocol, extensions, states
_ENDS = struct.Struct("!HH16s16s")  # ports and addresses
_ANY = struct.Struct("=III")  # interface, cookie
_UID_AT = _HEADER.size + 4 + _ENDS.size + _ANY.size + 12
_LOOPBACK = socket.inet_aton("127.0.0.1").ljust(16, b"\0")
_ALL_STATES = 0xFFFFFFFF
_NOBODY = -1
_WAIT_S = 1.0
CONNECT_S = 30.0
_LONGEST_ANSWER = 16 << 10
_EXTRA = "NODE_EXTRA_CA_CERTS"  # what agents written for Node.js trust as well


class Relay(Protocol):
    """What stands between two ends."""

    def met(self, end: "End") -> None: ...

    def got(self, end: "End", data: bytes) -> None: ...

    def lost(self, end: "End", error: Exception | None) -> None: ...


class End(asyncio.Protocol):
    """One end. What its peer cannot take at once makes the other end stop reading."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._transport: asyncio.Transport | None = None
        self.other: End | None = None
        self.when_lost: Callable[[], None] | None = None
        self._is_lost = False
        self._held_back: set[str] = set()

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._is_lost

    @property
    def ports(self) -> tuple[int, int]:
        """The ports of the peer and of ours."""
        assert self._transport is not None
        names = (self._transport.get_extra_info(each) for each in ("peername", "sockname"))
        peer, own = (int(name[1]) if isinstance(name, tuple) else 0 for name in names)
        return peer, own

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._is_lost:
            self._transport.write(data)

    def hold_back(self, why: str) -> None:
        """Read no more, until `go_on` was called for each reason."""
        if self._transport is not None and not self._held_back and not self._is_lost:
            self._transport.pause_reading()
        self._held_back.add(why)

    def go_on(self, why: str) -> None:
        self._held_back.discard(why)
        if self._transport is not None and not self._held_back and not self._is_lost:
            self._transport.resume_reading()

    def finish(self) -> None:
        """Close when everything is written."""
        if self._transport is not None:
            self._transport.close()

    def reset(self) -> None:
        """Close at once, as a connection ends that was reset."""
        if self._transport is None:
            return
        sock = self._transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._transport.abort()

    def end_like(self, error: Exception | None) -> None:
        """End as the connection at the other end did."""
        if type(error) in _PASSED_ON:
            self.reset()
        else:
            self.finish()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if self._held_back:
            transport.pause_reading()
        self._relay.met(self)

    def data_received(self, data: bytes) -> None:
        self._relay.got(self, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        if self.other is not None:
            self.other.go_on("slow")
        self._relay.lost(self, exc)
        if self.when_lost is not None:
            self.when_lost()

    def pause_writing(self) -> None:
        if self.other is not None:
            self.other.hold_back("slow")

    def resume_writing(self) -> None:
        if self.other is not None:
            self.other.go_on("slow")


def is_ours(client: int, listener: int) -> bool:
    """Tell whether the socket that has connected from one port of 127.0.0.1 to another is ours.

    True where the system does not say.
    """
    if sys.platform != "linux":
        return True
    try:
        owner = owner_of(client, listener)
    except OSError:
        return True
    return owner in (os.geteuid(), _NOBODY)


def anybody(_client: int, _listener: int) -> bool:
    """Let everybody in: the listener is in a network of the run's own."""
    return True


def owner_of(client: int, listener: int) -> int:
    """Return the user whose socket has connected to a listener of loopback; -1 if it is not known.

    Raises OSError where the kernel cannot be asked.
    """
    ends = _ENDS.pack(client, listener, _LOOPBACK, _LOOPBACK) + _ANY.pack(0, *[0xFFFFFFFF] * 2)
    asked = _ASKED.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, _ALL_STATES) + ends
    header = _HEADER.pack(_HEADER.size + len(asked), _BY_FAMILY, _REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
        kernel.settimeout(_WAIT_S)
        kernel.send(header + asked)
        answer = kernel.recv(4096)
    kind = _HEADER.unpack_from(answer)[1]
    if kind != _BY_FAMILY or len(answer) < _UID_AT + 4:
        return _NOBODY  # an error: it has hung up already, or the kernel lacks this
    return int(struct.unpack_from("=I", answer, _UID_AT)[0])


class Server(NamedTuple):
    """Where to connect. `address` is what the name was resolved to; "": the name is resolved."""

    host: str
    port: int
    tls: bool = False
    address: str = ""
    via: Via | None = None


class Unreachable(OSError):
    """A server cannot be reached; the message says why."""


class Reach:
    """Opens connections. `env` is that of the run's command, for the certificates it trusts."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._context: ssl.SSLContext | None = None

    async def open(self, server: Server, factory: Callable[[], asyncio.Protocol]) -> None:
        """Connect; the protocol that `factory` makes gets the connection. Raises Unreachable."""
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._open(server, factory)
        except TimeoutError:
            raise Unreachable(f"no answer within {CONNECT_S:.0f} s") from None
        except Unreachable:
            raise
        except OSError as error:
            raise Unreachable(error.strerror or str(error)) from error

    async def _open(self, server: Server, factory: Callable[[], asyncio.Protocol]) -> None:
        loop = asyncio.get_running_loop()
        context = self._tls() if server.tls else None
        name = server.host if server.tls else None
        if server.via is None:
            where = server.address or server.host
            await loop.create_connection(
                factory, where, server.port, ssl=context, server_hostname=name
            )
            return
        transport, asking = await loop.create_connection(
            lambda: _Asking(server), server.via.host, server.via.port
        )
        try:
            await asking.answered
        except BaseException:
            transport.abort()
            raise
        protocol = factory()
        if context is not None:
            secured = await loop.start_tls(transport, protocol, context, server_hostname=name)
            assert secured is not None
            protocol.connection_made(secured)
            return
        transport.set_protocol(protocol)
        protocol.connection_made(transport)

    def _tls(self) -> "ssl.SSLContext":
        if self._context is None:
            import ssl  # 28 ms, and models on this machine are reached without it

            file = self._env.get("SSL_CERT_FILE") or None
            context = ssl.create_default_context(cafile=file)
            context.set_alpn_protocols(["http/1.1"])
            extra = self._env.get(_EXTRA, "")
            if extra and os.path.isfile(extra):
                context.load_verify_locations(extra)
            self._context = context
        return self._context


class _Asking(asyncio.Protocol):
    """Asks a proxy for a tunnel; `answered` is done when there is one."""

    def __init__(self, server: Server) -> None:
        self.answered = asyncio.get_running_loop().create_future()
        self._server = server
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        assert self._server.via is not None
        where = f"{self._server.host}:{self._server.port}"
        auth = self._server.via.auth
        more = f"Proxy-Authorization: {auth}\r\n" if auth else ""
        transport.write(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n{more}\r\n".encode())

    def data_received(self, data: bytes) -> None:
        self._held += data
        if self.answered.done():
            return
        status = self._held.split(b" ", 2)[1:2]
        if b"\r\n\r\n" in self._held and status == [b"200"]:
            self.answered.set_result(None)
        elif b"\r\n\r\n" in self._held or len(self._held) > _LONGEST_ANSWER:
            said = self._held.partition(b"\r\n")[0][:80].decode("latin-1")
            self.answered.set_exception(Unreachable(f"the proxy says {said!r}"))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.answered.done():
            self.answered.set_exception(Unreachable(f"the proxy hung up: {exc or 'no answer'}"))
