"""Fetching addresses of the web, for the agent's tool WebFetch (`tools.place.Http`).

The proxies of the given environment are used: in a run with a list of hosts, the network is reached
in no other way. Certificates are those of the system, or of `SSL_CERT_FILE`.
"""

import asyncio
import socket
import ssl
import zlib
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import SplitResult, quote, urlsplit

from siding.tools.place import Fetched
from siding.wire.via import CannotGoVia, Via, variables_in, via_for

_HEADERS = {
    "User-Agent": "siding-agent",
    "Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5",
    "Accept-Encoding": "gzip, identity",
    "Connection": "close",
}
_PART = 1 << 16


class WebClient:
    """Sends one GET at a time on a connection of its own."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    async def get(self, url: str, *, most: int, timeout_s: float) -> Fetched:
        """Return the answer of a GET; see `Http.get`. Cancelled, it hangs up."""
        exchange = _Exchange(self._env, url, most, timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.to_thread(exchange.run)
        except HTTPException as error:
            raise OSError(f"the server does not speak HTTP properly: {error!r}") from error
        except (CannotGoVia, UnicodeError) as error:
            raise OSError(str(error)) from error
        finally:
            exchange.hang_up()


class _Exchange:
    """One request, made in a thread; `hang_up` ends it from another one."""

    def __init__(self, env: Mapping[str, str], url: str, most: int, timeout_s: float) -> None:
        self._env = env
        self._parts = urlsplit(url)
        self._most = most
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._is_over = False

    def run(self) -> Fetched:
        is_tls = self._parts.scheme == "https"
        host = self._parts.hostname or ""
        via = via_for(variables_in(self._env), host, tls=is_tls)
        connection = self._connection(host, via, is_tls=is_tls)
        try:
            connection.connect()
            self._socket = connection.sock
            if self._is_over:
                raise TimeoutError("the request was given up")
            headers = dict(_HEADERS)
            if via is not None and via.auth and not is_tls:
                headers["Proxy-Authorization"] = via.auth
            target = _target(self._parts, whole=via is not None and not is_tls)
            connection.request("GET", target, headers=headers)
            return self._read(connection.getresponse())
        finally:
            connection.close()

    def hang_up(self) -> None:
        self._is_over = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _connection(self, host: str, via: Via | None, *, is_tls: bool) -> HTTPConnection:
        port = self._parts.port
        there = (host, port) if via is None else (via.host, via.port)
        if not is_tls:
            return HTTPConnection(*there, timeout=self._timeout_s)
        certificates = self._env.get("SSL_CERT_FILE") or None
        context = ssl.create_default_context(cafile=certificates)
        connection = HTTPSConnection(*there, timeout=self._timeout_s, context=context)
        if via is not None:
            auth = {"Proxy-Authorization": via.auth} if via.auth else {}
            connection.set_tunnel(host, port or 443, auth)
        return connection

    def _read(self, response: HTTPResponse) -> Fetched:
        packed = response.headers.get("Content-Encoding", "").strip().lower() in ("gzip", "x-gzip")
        unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if packed else None
        body = bytearray()
        while len(body) <= self._most and (part := response.read1(_PART)):
            room = self._most + 1 - len(body)
            try:
                body += part if unpack is None else unpack.decompress(part, room)
            except zlib.error as error:
                raise OSError(f"the answer is not packed as it says: {error}") from error
        return Fetched(
            status=response.status,
            reason=response.reason,
            kind=response.headers.get("Content-Type", ""),
            body=bytes(body[: self._most]),
            location=response.headers.get("Location", ""),
            is_cut=len(body) > self._most,
        )


def _target(parts: SplitResult, *, whole: bool) -> str:
    """Return what is asked for: with the server in front for a proxy."""
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]")
    where = f"{path}?{query}" if query else path
    return f"{parts.scheme}://{parts.netloc}{where}" if whole else where
