"""Tell the machine itself from others, by the address that an argument names."""

import re
from collections.abc import Collection

from siding.shellguard.fields import UNKNOWN

_LOCAL = (
    r"(?i)^(?:[a-z]+://)?(?:[^/@]*@)?(?:localhost|host\.(?:docker|containers)\.internal|127\.[\d.]+|0\.0\.0\.0|\[::1?\]|::1"
    r"|0x7f|2130706433|0(?=[:/]))(?::|/|$)"
)
_HOST = r"(?i)(?:[a-z][\w+.-]*://)?(?:[^/@]*@)?(\[[^\]]*\]|[^/:?]*)"


def is_local(address: str) -> bool:
    """Return whether an address, with a scheme or without, is certainly this machine."""
    scheme, colons, rest = address.rpartition("://")
    authority, slash, path = rest.partition("/")
    # The host stands behind the last `@`: `http://127.0.0.1:80@elsewhere/` goes elsewhere.
    host = authority.rpartition("@")[2]
    if "\\" in authority or "?" in authority or "#" in authority:
        host = ""  # readers of addresses disagree about where such a host ends
    return bool(host) and bool(re.match(_LOCAL, f"{scheme}{colons}{host}{slash}{path}"))


# Servers on this machine that run commands for whoever asks: of Docker, of inspectors of MCP, of a
# cluster's proxy, of a browser or a debugger under remote control. Agents' are told.
_OBEYING_PORTS = frozenset({2375, 2376, 5858, 6274, 6277, 8001, 9222, 9229, 10250})
_OBEYING_PATHS = (
    r"(?i)/(?:sessions?|shell|exec|execute|command|commands|run|tui|agents?|mcp|permissions?|approve"
    r"|terminal|pty|json/new|containers|v1\.\d+/(?:containers|exec|images)|api/v1/namespaces)"
    r"(?:/|\?|#|$)"
)


def obeys(address: str, ports_of_agents: Collection[int]) -> bool:
    """Return whether an address on this machine may be of a server that runs commands.

    An agent's server takes orders from whoever can reach it; the port or the path gives it away.
    Another server here is most likely the project's own. One whose port is not known may be any.
    """
    found = re.match(r"(?:[a-z]+://)?[^/?#]*?(?::(\d+))?(/[^?#]*)?(?:[?#].*)?$", address)
    if UNKNOWN in address.partition("?")[0] or found is None:
        return True
    port = int(found.group(1)) if found.group(1) else 80
    return (
        port in _OBEYING_PORTS
        or port in ports_of_agents
        or bool(re.search(_OBEYING_PATHS, found.group(2) or ""))
    )


def is_elsewhere(address: str) -> bool:
    """Return whether an address certainly names a machine outside one's own network.

    A name without a dot is a service beside this one (``db`` of a compose file); a path is a
    socket. An address that is not known is not certain.
    """
    if is_local(address) or address.startswith(("/", ".")):
        return False
    found = re.match(_HOST, address)
    host = found.group(1) if found else ""
    return UNKNOWN not in host and ("." in host or ":" in host)


def is_far(operand: str) -> bool:
    """Return whether an operand is a place on another machine: ``HOST:PATH``."""
    if operand.startswith(("rsync://", "ssh://", "scp://")):
        return True
    head, colon, _ = operand.partition(":")
    return bool(colon) and "/" not in head


# Where a cloud tells a machine who it is, and gives its credentials to whoever asks. All of
# 169.254/16 counts: containers have addresses of their own there.
_METADATA_NAMES = frozenset({"metadata.google.internal", "metadata.goog", "metadata"})
_METADATA_NETWORKS = (
    (0xA9FE0000, 16),  # 169.254/16: AWS, Google, Azure, and most others
    (0x646464C8, 32),  # 100.100.100.200: Alibaba
    (0xA83F8110, 32),  # 168.63.129.16: Azure's agent
    (0xC00000C0, 32),  # 192.0.0.192: Oracle
)
_METADATA_V6 = (
    "fd00:ec2::",  # AWS
    "fd20:ce::254",  # Google
)


def is_metadata(address: str) -> bool:
    """Return whether an address, with a scheme or without, is that of a cloud's metadata.

    A number may be written in every way that the C library takes: ``2852039166``,
    ``0xa9.0376.43518``, ``::ffff:a9fe:a9fe``.
    """
    found = re.match(_HOST, address[:300])
    host = found.group(1) if found else ""
    if not host.isascii() or "%" in host:
        host = _plain_host(host)
    host = host.lower().rstrip(".")
    if ":" in host:
        return _is_metadata_v6(host.strip("[]").partition("%")[0])
    number = _ipv4(host)
    if number is None:
        named = host in _METADATA_NAMES or host.startswith("instance-data.")
        return named and ("." in host or "://" in address)  # alone it is an ordinary word
    return any(number >> (32 - bits) == net >> (32 - bits) for net, bits in _METADATA_NETWORKS)


def _plain_host(host: str) -> str:
    """Return a host as a client reads it: without ``%2e``, and with plain digits."""
    from unicodedata import normalize
    from urllib.parse import unquote

    return normalize("NFKC", unquote(host)).replace("\u3002", ".")


def _ipv4(host: str) -> int | None:
    """Return the number of an IPv4 address, in the ways that ``inet_aton`` takes; else None."""
    parts = host.split(".")
    if len(parts) > 4 or not all(re.fullmatch(r"0x[0-9a-f]{1,8}|\d{1,12}", part) for part in parts):
        return None
    try:
        *first, last = (int(part, 8 if re.match(r"0\d", part) else 0) for part in parts)
    except ValueError:  # `09`: neither octal nor decimal
        return None
    number = sum(part << (24 - 8 * index) for index, part in enumerate(first)) + last
    return number if number < 1 << 32 else None


def _is_metadata_v6(host: str) -> bool:
    from ipaddress import IPv6Address

    try:
        address = IPv6Address(host)
    except ValueError:
        return False
    inside = int(address) & 0xFFFFFFFF  # of a mapped or translated IPv4 address
    holds_v4 = address.ipv4_mapped or address.compressed.startswith(("64:ff9b::", "fe80::"))
    if holds_v4 and is_metadata(str(inside)):
        return True
    return address.compressed.startswith(_METADATA_V6)
