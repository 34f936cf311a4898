"""Addresses that may be fetched, and where redirects lead."""

from urllib.parse import SplitResult, urljoin, urlsplit

from siding.ground.namedtuples import NamedTuple

LONGEST = 2000  # characters
_PORTS = {"http": 80, "https": 443}


class BadAddress(ValueError):
    """An address cannot be fetched; the text tells why."""


class Origin(NamedTuple):
    """The server that an address names."""

    scheme: str
    host: str
    port: int


def origin_of(address: str) -> Origin:
    """Return the server of an address. Raises BadAddress for what cannot be fetched."""
    if len(address) > LONGEST:
        raise BadAddress(f"it is longer than {LONGEST} characters")
    if any(letter.isspace() or not letter.isprintable() or letter == "\\" for letter in address):
        raise BadAddress("it has a blank, a backslash or an invisible character in it")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise BadAddress(str(error)) from error
    if parts.scheme not in _PORTS:
        raise BadAddress("only http:// and https:// can be fetched")
    if not parts.hostname:
        raise BadAddress("it names no host")
    if _has_account(parts):
        raise BadAddress("a user or password in an address is not sent")
    return Origin(parts.scheme, parts.hostname, port or _PORTS[parts.scheme])


def host_of(address: str) -> str:
    """Return the host that an address names, "" if it names none."""
    try:
        return origin_of(address).host
    except BadAddress:
        return ""


def next_address(address: str, location: str) -> tuple[str, bool]:
    """Return where a redirect leads, and whether the same server answers there.

    From http to https of a host it is the same. Raises BadAddress.
    """
    try:
        target = urljoin(address, location.replace(" ", "%20")).partition("#")[0]
    except ValueError as error:
        raise BadAddress(str(error)) from error
    here, there = origin_of(address), origin_of(target)
    is_upgrade = here._replace(scheme="https", port=443) == there and here.port == 80
    return target, here == there or is_upgrade


def _has_account(parts: SplitResult) -> bool:
    return "@" in parts.netloc
