"""Asking HTTP servers, for the agent's tools (`tools.place.Http`).

The proxies of the given environment are used: in a run with a list of hosts, the network is reached
in no other way. Certificates are those of the system, or of `SSL_CERT_FILE`.
"""

import asyncio
import socket
import ssl
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import TypeVar
from urllib.parse import SplitResult, quote, urlsplit

from siding.assistant.tools.place import Answered, Fetched, TakePart
from siding.sandbox.wire.spec import CannotGoVia, Via, variables_in, via_for

_OURS = {"User-Agent": "siding-agent", "Connection": "close"}
_OF_A_PAGE = {
    **_OURS,
    "Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5",
    "Accept-Encoding": "gzip, identity",
}
_PART = 1 << 16
_T = TypeVar("_T")


class WebClient:
    """Sends each request on a connection of its own."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    async def get(self, url: str, *, most: int, timeout_s: float) -> Fetched:
        """Return the answer of a GET; see `Http.get`. Cancelled, it hangs up."""
        exchange = _Exchange(self._env, url, timeout_s)
        async with asyncio.timeout(timeout_s):
            return await _in_thread(exchange, lambda: exchange.page(most))

    async def send(
        self,
        method: str,
        url: str,
        body: bytes,
        *,
        headers: Mapping[str, str],
        take: TakePart,
        silence_s: float,
    ) -> Answered:
        """See `Http.send`. Cancelled, it hangs up."""
        exchange = _Exchange(self._env, url, silence_s)
        return await _in_thread(exchange, lambda: exchange.parts(method, body, headers, take))


async def _in_thread(exchange: "_Exchange", work: Callable[[], _T]) -> _T:
    try:
        return await asyncio.to_thread(work)
    except HTTPException as error:
        raise OSError(f"the server does not speak HTTP properly: {error!r}") from error
    except (CannotGoVia, UnicodeError) as error:
        raise OSError(str(error)) from error
    finally:
        exchange.hang_up()


class _Exchange:
    """One request, made in a thread; `hang_up` ends it from another one."""

    def __init__(self, env: Mapping[str, str], url: str, timeout_s: float) -> None:
        self._env = env
        self._parts = urlsplit(url)
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._is_over = False

    def page(self, most: int) -> Fetched:
        """Fetch a page, of at most so many bytes."""
        return self._run("GET", None, _OF_A_PAGE, lambda response: _read(response, most))

    def parts(
        self, method: str, body: bytes, headers: Mapping[str, str], take: TakePart
    ) -> Answered:
        """Send a body, and have the parts of the answer taken as they come."""
        return self._run(method, body, {**_OURS, **headers}, lambda found: _told(found, take))

    def _run(
        self,
        method: str,
        body: bytes | None,
        headers: Mapping[str, str],
        read: Callable[[HTTPResponse], _T],
    ) -> _T:
        is_tls = self._parts.scheme == "https"
        host = self._parts.hostname or ""
        via = via_for(variables_in(self._env), host, tls=is_tls)
        connection = self._connection(host, via, is_tls=is_tls)
        try:
            connection.connect()
            self._socket = connection.sock
            if self._is_over:
                raise TimeoutError("the request was given up")
            said = dict(headers)
            if via is not None and via.auth and not is_tls:
                said["Proxy-Authorization"] = via.auth
            target = _target(self._parts, whole=via is not None and not is_tls)
            connection.request(method, target, body=body, headers=said)
            return read(connection.getresponse())
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


def _read(response: HTTPResponse, most: int) -> Fetched:
    packed = response.headers.get("Content-Encoding", "").strip().lower() in ("gzip", "x-gzip")
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if packed else None
    body = bytearray()
    while len(body) <= most and (part := response.read1(_PART)):
        room = most + 1 - len(body)
        try:
            body += part if unpack is None else unpack.decompress(part, room)
        except zlib.error as error:
            raise OSError(f"the answer is not packed as it says: {error}") from error
    return Fetched(
        status=response.status,
        reason=response.reason,
        kind=response.headers.get("Content-Type", ""),
        body=bytes(body[:most]),
        location=response.headers.get("Location", ""),
        is_cut=len(body) > most,
    )


def _told(response: HTTPResponse, take: TakePart) -> Answered:
    headers = {name.lower(): value for name, value in response.headers.items()}
    head = Answered(response.status, response.reason, headers)
    while (part := response.read1(_PART)) and not take(head, part):
        pass
    return head


def _target(parts: SplitResult, *, whole: bool) -> str:
    """Return what is asked for: with the server in front for a proxy."""
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]")
    where = f"{path}?{query}" if query else path
    return f"{parts.scheme}://{parts.netloc}{where}" if whole else where
