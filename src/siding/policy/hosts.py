"""Tell the machine itself from others, by the address that an argument names."""

import re
from collections.abc import Collection

from siding.policy.fields import UNKNOWN

_LOCAL = (
    r"(?i)^(?:[a-z]+://)?(?:[^/@]*@)?(?:localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\]|::1"
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
