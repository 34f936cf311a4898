"""Reach a server: directly or through the person's own proxy, with TLS or without."""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from siding.ground.namedtuples import NamedTuple
from siding.sandbox.wire.spec import Via

if TYPE_CHECKING:
    import ssl

CONNECT_S = 30.0
_LONGEST_ANSWER = 16 << 10
_EXTRA = "NODE_EXTRA_CA_CERTS"  # what agents written for Node.js trust as well


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
