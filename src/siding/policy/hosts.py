"""Tell the machine itself from others, by the address that an argument names."""

import re

from siding.policy.fields import UNKNOWN

_LOCAL = re.compile(
    r"(?i)^(?:[a-z]+://)?(?:[^/@]*@)?(?:localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\]|::1"
    r"|0x7f|2130706433|0(?=[:/]))(?::|/|$)"
)
_HOST = re.compile(r"(?:[a-z][\w+.-]*://)?(?:[^/@]*@)?(\[[^\]]*\]|[^/:?]*)", re.IGNORECASE)


def is_local(address: str) -> bool:
    """Return whether an address, with a scheme or without, is certainly this machine."""
    return bool(_LOCAL.match(address))


def is_elsewhere(address: str) -> bool:
    """Return whether an address certainly names a machine outside one's own network.

    A name without a dot is a service beside this one (``db`` of a compose file); a path is a
    socket. An address that is not known is not certain.
    """
    if is_local(address) or address.startswith(("/", ".")):
        return False
    found = _HOST.match(address)
    host = found.group(1) if found else ""
    return UNKNOWN not in host and ("." in host or ":" in host)
