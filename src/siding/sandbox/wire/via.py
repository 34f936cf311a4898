"""Through which proxy a server is reached, as the person's own variables say. Pure."""

from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from siding.ground.namedtuples import NamedTuple

VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


class Via(NamedTuple):
    """A proxy that is asked for a tunnel (CONNECT). `auth` is the value of its header, or ""."""

    host: str
    port: int
    auth: str = ""


class CannotGoVia(Exception):
    """The person's variables name a proxy of a kind that is not spoken here."""


def variables_in(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables about proxies, by their small names; small ones win, as with curl."""
    found = {name: env.get(name) or env.get(name.upper(), "") for name in VARIABLES}
    return {name: value for name, value in found.items() if value}


def via_for(variables: Mapping[str, str], host: str, *, tls: bool) -> Via | None:
    """Return the proxy for a server, None for none. Raises CannotGoVia."""
    named = variables.get("https_proxy" if tls else "http_proxy") or variables.get("all_proxy", "")
    if not named or _is_excepted(variables.get("no_proxy", ""), host):
        return None
    parts = urlsplit(named if "://" in named else f"http://{named}")
    if parts.scheme != "http" or not parts.hostname:
        raise CannotGoVia(f"a proxy by {parts.scheme!r} is not spoken here, only http://HOST:PORT")
    auth = ""
    if parts.username is not None:
        words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        auth = f"Basic {b64encode(words.encode()).decode()}"
    return Via(parts.hostname, parts.port or 80, auth)


def _is_excepted(no_proxy: str, host: str) -> bool:
    for each in no_proxy.replace(" ", "").split(","):
        name = each.partition(":")[0].lstrip(".").lower()
        if each == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
    return host in ("localhost", "127.0.0.1", "::1")
