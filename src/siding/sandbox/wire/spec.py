"""What the proxy of a run is told when it starts, as JSON on its standard input.

Not on its command line: every user of the machine can read that, and secrets are in it. Through
which other proxy a server is reached is what the person's own variables say.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, strings, text, whole

VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
INSIDE = -1  # in the place of a descriptor: the listener is made in the sandbox, and handed out


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


class Route(NamedTuple):
    """A listener that stands in for one server."""

    listening: int  # its descriptor, or INSIDE
    secret: str  # the first part of every path
    tls: bool
    host: str
    port: int
    authority: str  # the server, as a request's Host says it
    via: Via | None = None  # the person's own proxy


class Egress(NamedTuple):
    """The listener at which a sandbox asks for hosts; `hosts` are entries of the list."""

    hosts: tuple[str, ...]
    proxies: Mapping[str, str] = {}  # the person's own variables about proxies


class Spec(NamedTuple):
    """All that the proxy of one run is told.

    `handover` is the descriptor of a Unix socket at which the sandbox hands its listeners out, -1
    for none: first that of the egress, then those of the routes.
    """

    journal: str  # the path of the file of lines; "" for none
    lifeline: int  # a descriptor that becomes readable when the run is over
    routes: tuple[Route, ...] = ()
    egress: Egress | None = None
    handover: int = -1
    env: Mapping[str, str] = {}  # what says which certificates are trusted

    def encoded(self) -> bytes:
        record = {
            **self._asdict(),
            "routes": [
                {**each._asdict(), "via": each.via and each.via._asdict()} for each in self.routes
            ],
            "egress": self.egress and self.egress._asdict(),
        }
        return json.dumps(record).encode()

    @classmethod
    def decoded(cls, data: bytes) -> "Spec":
        found = mapping(json.loads(data))
        egress = mapping(found.get("egress"))
        return cls(
            journal=text(found.get("journal")),
            lifeline=whole(found.get("lifeline")),
            routes=tuple(map(_route, mappings(found.get("routes")))),
            egress=Egress(strings(egress.get("hosts")), mapping(egress.get("proxies")))
            if egress
            else None,
            handover=whole(found.get("handover")),
            env=mapping(found.get("env")),
        )


def _route(record: Mapping[str, Any]) -> Route:
    via = mapping(record.get("via"))
    return Route(
        listening=whole(record.get("listening")),
        secret=text(record.get("secret")),
        tls=record.get("tls") is True,
        host=text(record.get("host")),
        port=whole(record.get("port")),
        authority=text(record.get("authority")),
        via=Via(text(via["host"]), whole(via["port"]), text(via.get("auth"))) if via else None,
    )
