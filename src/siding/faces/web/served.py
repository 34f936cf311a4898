"""The address at which paired devices reach the dashboard: where it is, and its TLS.

Connections are counted from their first byte: the handshake of TLS is done here, by at most so many
at a time and within seconds, before uvicorn sees a connection.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple

HANDSHAKES = 64  # at a time
HANDSHAKE_S = 5.0
_WATCH_EVERY_S = 0.25
_FORM = re.compile(r"(?:(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]]+):)?(?P<port>[0-9]{1,5})")
_SOMEWHERE = "192.0.2.1"  # reserved for documentation; connecting a datagram socket sends nothing


class ServedAddress(NamedTuple):
    """Where the dashboard is served. `names` are the hosts that a browser may write."""

    ip: str
    port: int
    names: tuple[str, ...]

    @property
    def url(self) -> str:
        """The address of the dashboard."""
        return f"https://{self.names[0]}" + ("" if self.port == 443 else f":{self.port}")


def served_address(text: str) -> ServedAddress:
    """Return the address in ``[HOST:]PORT``; without a host it is that of this machine.

    Raises UsageError. It is one address and never all of them: who serves on all of them serves in
    networks that did not exist when he said so.
    """
    found = _FORM.fullmatch(text)
    port = int(found["port"]) if found else 0
    if found is None or not 1 <= port <= 65535:
        raise UsageError(f"--serve {text!r} is not [HOST:]PORT", hint="--serve 8443")
    host = (found["host"] or _own_address()).strip("[]").lower()
    ip = _resolved(host)
    if ipaddress.ip_address(ip).is_unspecified:
        raise UsageError(
            f"--serve {text!r} would serve on every address of this machine",
            hint="name the one at which the device reaches it",
        )
    literal = f"[{ip}]" if ":" in ip else ip
    return ServedAddress(ip, port, (literal,) if host == ip else (host, literal))


def bind_served(address: ServedAddress) -> socket.socket:
    """Return a socket that listens there. Raises SidingError when that is not possible."""
    family = socket.AF_INET6 if ":" in address.ip else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address.ip, address.port))
        bound.listen(HANDSHAKES)
        bound.setblocking(False)
    except OSError as error:
        bound.close()
        raise SidingError(
            f"the dashboard cannot be served at {address.url}: {error.strerror}",
            hint="name an address of this machine and a free port: --serve HOST:PORT",
        ) from None
    return bound


def tls_context(certificate: Path) -> ssl.SSLContext:
    """Return TLS 1.2 or newer with the certificate and key in this file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["http/1.1"])
    return context


async def accept(
    bound: socket.socket, context: ssl.SSLContext, connection: Callable[[], asyncio.Protocol]
) -> None:
    """Accept connections for ever; each becomes a `connection` once TLS stands.

    When too many are at their handshake, the one that has been for longest makes room.
    """
    loop = asyncio.get_running_loop()
    shaking: dict[asyncio.Task[None], socket.socket] = {}  # oldest first
    try:
        while True:
            try:
                there, _peer = await loop.sock_accept(bound)
            except OSError:  # too many open files, or the other side has gone: not for ever
                await asyncio.sleep(_WATCH_EVERY_S)
                continue
            if len(shaking) >= HANDSHAKES:
                _put_out(shaking, next(iter(shaking)))
            task = loop.create_task(_shake_hands(there, context, connection))
            shaking[task] = there
            task.add_done_callback(lambda done: shaking.pop(done, None))
    finally:
        for task in list(shaking):
            _put_out(shaking, task)
        bound.close()


async def watch(put_out: Callable[[], None]) -> None:
    """End the connections of devices that were removed, for ever."""
    while True:
        await asyncio.sleep(_WATCH_EVERY_S)
        put_out()


async def _shake_hands(
    there: socket.socket, context: ssl.SSLContext, connection: Callable[[], asyncio.Protocol]
) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError, asyncio.TimeoutError):  # the other side speaks no TLS, or has gone
        await loop.connect_accepted_socket(
            connection,
            sock=there,
            ssl=context,
            ssl_handshake_timeout=HANDSHAKE_S,
            ssl_shutdown_timeout=HANDSHAKE_S,
        )


def _put_out(shaking: dict[asyncio.Task[None], socket.socket], task: asyncio.Task[None]) -> None:
    there = shaking.pop(task)
    task.cancel()
    with suppress(OSError):  # a task that never began would leave it open
        there.shutdown(socket.SHUT_RDWR)
    task.add_done_callback(lambda _done: there.close())


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect((_SOMEWHERE, 9))
            return str(asking.getsockname()[0])
        except OSError:
            raise UsageError(
                "this machine has no address in a network", hint="name one: --serve HOST:PORT"
            ) from None


def _resolved(host: str) -> str:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UsageError(
            f"--serve: {host!r} is no address of this machine",
            hint="name one that `ip address` lists",
        ) from None
    of_four = [each for each in found if each[0] == socket.AF_INET]
    return str((of_four or found)[0][4][0])
