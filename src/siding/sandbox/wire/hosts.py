"""The list of hosts that a sandboxed run may reach: its entries, and what they allow. Pure.

An entry is a name (`api.example.org`), a name with a star in front (`*.example.org`: any name below
it, not itself), or an address or network (`10.0.0.0/8`); each with a port behind a colon, or
without one for 80 and 443. A name is only as good as the addresses that it leads to: one that leads
to this machine or into a private network is allowed if that address is listed as well.
"""

import re
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from siding.ground.namedtuples import NamedTuple

USUAL_PORTS = (80, 443)
TLS_PORT = 443
_NAME = re.compile(
    r"(?=.{1,253}\Z)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_][a-z0-9_-]{0,62}"
)
_NUMERIC = re.compile(r"(0x[0-9a-f]+|\d+)")
_NAT64 = IPv6Network("64:ff9b::/96")
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class BadEntry(ValueError):
    """An entry of the list cannot be understood; the message says why."""


class HostRule(NamedTuple):
    """One entry. Exactly one of `name` and `network` is set; `port` 0 stands for the usual ones."""

    name: str
    below: bool  # names below it, and not itself
    network: Network | None
    port: int

    def takes_port(self, port: int) -> bool:
        return port == self.port if self.port else port in USUAL_PORTS


def rule_of(entry: str) -> HostRule:
    """Return the rule that an entry stands for. Raises BadEntry."""
    text = entry.strip().lower()
    network, port = _network(text)
    if network is not None:
        return HostRule("", below=False, network=network, port=port)
    name, port = _split(text)
    below = name.startswith("*.")
    name = plain_name(name.removeprefix("*."))
    if name == "*":
        raise BadEntry("a star alone is every host: `network: on` says that")
    if not _NAME.fullmatch(name):
        raise BadEntry("no name of a host, address or network, with or without a port")
    return HostRule(name, below=below, network=None, port=port)


def plain_name(name: str) -> str:
    """Return a name in the one way in which names are compared."""
    name = name.lower().removesuffix(".")
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return name


class HostList:
    """What the entries allow, together."""

    def __init__(self, entries: tuple[str, ...]) -> None:
        self._rules = [rule_of(entry) for entry in entries]

    def allows(self, host: str, port: int) -> bool:
        """Tell whether a host may be asked for, by the name or address that was said."""
        address = address_in(host)
        if address is not None:
            return self._lists(address, port)
        if _NUMERIC.fullmatch(host.rpartition(".")[2]):
            return False  # `127.1` and `0x7f000001` are addresses to some
        return any(_is_named(rule, host) and rule.takes_port(port) for rule in self._rules)

    def may_lead_to(self, address: str) -> bool:
        """Tell whether an allowed name may lead to this address."""
        found = address_in(address)
        if found is None:
            return False
        return is_public(found) or self._lists(found, 0)

    def _lists(self, address: Address, port: int) -> bool:
        """Tell whether an address is in a listed network; port 0: whatever the port."""
        bare = _bare(address)
        return any(
            rule.network is not None
            and bare.version == rule.network.version
            and bare in rule.network
            and (not port or rule.takes_port(port))
            for rule in self._rules
        )


def address_in(text: str) -> Address | None:
    """Return the address that a text is; None for a name."""
    try:
        return ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Tell whether an address is one of the Internet's, however it is wrapped."""
    bare = _bare(address)
    return bare.is_global and not bare.is_multicast


def _bare(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address stands for, else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    wrapped = address.ipv4_mapped or address.sixtofour
    if wrapped is None and address.teredo is not None:
        wrapped = address.teredo[1]
    return address if wrapped is None else wrapped


def _is_named(rule: HostRule, host: str) -> bool:
    if rule.below:
        return host.endswith(f".{rule.name}")
    return bool(rule.name) and host == rule.name


def _network(text: str) -> tuple[Network | None, int]:
    whole = text.strip("[]")
    for candidate, port in ((whole, ""), _cut(text)):
        try:
            return ip_network(candidate.strip("[]"), strict=False), _port(port)
        except BadEntry:
            raise
        except ValueError:
            continue
    return None, 0


def _cut(text: str) -> tuple[str, str]:
    host, _colon, port = text.rpartition(":")
    return host, port


def _split(text: str) -> tuple[str, int]:
    name, colon, port = text.partition(":")
    return name, _port(port) if colon else 0


def _port(text: str) -> int:
    if not text:
        return 0
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) < 65536:
        raise BadEntry(f"{text!r} is no port")
    return int(text)
