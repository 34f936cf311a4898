"""Judge what a run asks for: by the list of its hosts, and by the addresses that a name leads to.

A name is resolved here and once, and the address that was judged is the one that is connected to.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlsplit

from siding.ground.namedtuples import NamedTuple
from siding.record.wire.journal import WireJournal
from siding.sandbox.wire.heads import BadHead
from siding.sandbox.wire.hosts import HostList, address_in, plain_name
from siding.sandbox.wire.reaching import Reach, Server, Unreachable
from siding.sandbox.wire.spec import CannotGoVia, via_for

HTTP_PORT = 80
_MOST_ADDRESSES = 4  # that are tried
Resolve = Callable[[str, int], Awaitable[list[str]]]


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
