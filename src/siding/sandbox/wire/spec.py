"""What the proxy of a run is told when it starts, as JSON on its standard input.

Not on its command line: every user of the machine can read that, and secrets are in it.
"""

import json
from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, strings, text, whole
from siding.sandbox.wire.via import Via

INSIDE = -1  # in the place of a descriptor: the listener is made in the sandbox, and handed out


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
