"""Run one dashboard: bind a port, announce it, serve, and end when nobody uses it."""

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import Callable

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.types import ASGIApp

from siding.asking.devices.store import Certificate
from siding.asking.devices.terminal import devices
from siding.faces.web.access import Access, Activity, Key
from siding.faces.web.application import build
from siding.faces.web.asking.devices import ServedAccess, Serving, Sessions
from siding.faces.web.connection import Door, GuardedConnection, connections_of
from siding.faces.web.guard import MAX_HEAD_BYTES
from siding.faces.web.request import Site
from siding.faces.web.served import ServedAddress, accept, tls_context, watch
from siding.faces.web.table import TOPICS
from siding.faces.web.text import inert
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.dashboard import Dashboard, announce
from siding.record.place.project import Project
from siding.record.place.wiring import App

ADDRESS = "127.0.0.1"
ADDRESS_6 = "::1"
_TRIES = 20  # a port of the kernel's choice may be taken at the other address
THREADS = 8
_LOOK_EVERY_S = 1.0


def bind(port: int | None) -> list[socket.socket]:
    """Return sockets that listen on the loopback; with port None the kernel chooses the port.

    Browsers look for `localhost` at ::1 first, so it is ours as well: whoever had it could show
    his own pages under our name, and use the key that a browser keeps for this origin. Raises
    SidingError when the port is taken at either.
    """
    for _ in range(_TRIES):
        first = _listening(socket.AF_INET, ADDRESS, port)
        try:
            return [first, _listening(socket.AF_INET6, ADDRESS_6, first.getsockname()[1])]
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return [first]  # this machine has no IPv6
            first.close()
            if port is not None:
                raise _taken(port, error) from None
    raise SidingError("no port of the loopback is free", hint="choose one with --port")


def _listening(family: socket.AddressFamily, address: str, port: int | None) -> socket.socket:
    """Return a listening socket. Raises OSError for ::1, and SidingError for 127.0.0.1."""
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        if port is not None:  # without it, TIME_WAIT blocks the port for a minute after a restart
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address, port or 0))
        bound.listen()  # two may be bound to a port if both wish, but only one may listen
    except OSError as error:
        bound.close()
        if family is socket.AF_INET:
            raise _taken(port, error) from None
        raise
    return bound


def _taken(port: int | None, error: OSError) -> SidingError:
    return SidingError(
        f"port {port} cannot be used: {error.strerror}",
        hint="leave out --port to get a free one",
    )


class Served(NamedTuple):
    """The address that is served to devices, its listening socket and its certificate."""

    address: ServedAddress
    bound: socket.socket
    certificate: Certificate


def serve(
    app: App,
    project: Project,
    bound: list[socket.socket],
    *,
    served: Served | None = None,
    idle_s: float,
    show: Callable[[str], None],
    ready: Callable[[Dashboard], None],
) -> None:
    """Serve until Ctrl-C, or until nobody has used the dashboard for `idle_s` seconds.

    `show` writes a line to the terminal; `ready` is called when the server answers requests. With
    `served`, paired devices reach it at that address, too.
    """
    port = bound[0].getsockname()[1]
    key, activity = Key(), Activity()
    site = Site(app, key=key.text, show=show, topics=TOPICS)
    serving = None
    if served is not None:
        serving = Serving(Sessions(site.desk.is_paired), served.certificate.fingerprint)
    pages = build(site, key=key, serving=serving)
    server = _Server(
        _config(Access(pages, key=key, activity=activity), Door(port, key)),
        activity=activity,
        idle_s=idle_s,
        show=show,
    )
    if served is not None and serving is not None:
        server.served = _entrance(served, serving, pages, activity)
    _complain_to(show)
    dashboard = Dashboard(
        pid=app.pid,
        port=port,
        key=key.text,
        started_at=app.now(),
        host=_host(app, port),
        served="" if served is None else served.address.url,
        fingerprint="" if served is None else served.certificate.fingerprint,
    )
    if not announce(project, dashboard):
        show("the home cannot be written: other commands do not find this dashboard")
    server.when_ready = lambda: ready(dashboard)
    with site.screen:
        asyncio.run(server.serve(sockets=bound))


def _host(app: App, port: int) -> str:
    """Return the name of the loopback in addresses: the one under which a browser is paired."""
    named = f"http://localhost:{port}"
    return "localhost" if any(each.origin == named for each in devices(app).rows) else ADDRESS


class _Entrance(NamedTuple):
    """The second entrance of the server, for devices."""

    bound: socket.socket
    context: ssl.SSLContext
    config: uvicorn.Config
    connection: type[GuardedConnection]


def _entrance(served: Served, serving: Serving, pages: ASGIApp, activity: Activity) -> _Entrance:
    door = Door(served.address.port, serving.sessions, names=served.address.names, scheme="https")
    config = _config(ServedAccess(pages, sessions=serving.sessions, activity=activity), door)
    config.load()
    context = tls_context(served.certificate.path)
    return _Entrance(served.bound, context, config, connections_of(door))


class _Server(uvicorn.Server):
    """uvicorn's server, with an end when it has been idle, and a second entrance for devices."""

    when_ready: Callable[[], None]
    served: _Entrance | None = None

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        activity: Activity,
        idle_s: float,
        show: Callable[[str], None],
    ) -> None:
        super().__init__(config)
        self._activity = activity
        self._idle_s = idle_s
        self._show = show

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        current_default_thread_limiter().total_tokens = THREADS
        self._tasks = [asyncio.create_task(self._end_when_idle())]
        if self.served is not None:
            self._tasks += [
                asyncio.create_task(accept(self.served.bound, self.served.context, self._device)),
                asyncio.create_task(watch(self.served.connection.door.put_out)),
            ]
        self.when_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for task in self._tasks:
            task.cancel()
        await super().shutdown(sockets)

    def _device(self) -> asyncio.Protocol:
        """Return the connection of a device, whose TLS stands."""
        assert self.served is not None
        return self.served.connection(
            config=self.served.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )

    async def _end_when_idle(self) -> None:
        while self._activity.idle_s() < self._idle_s:
            await asyncio.sleep(min(_LOOK_EVERY_S, self._idle_s))
        self._show("nobody has used the dashboard for a while, so it ends")
        self.should_exit = True


class _Terminal(logging.Handler):
    """Shows errors of requests in the terminal, with invisible characters spelled out."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(inert(self.format(record)))


def _complain_to(show: Callable[[str], None]) -> None:
    logger = logging.getLogger("uvicorn.error")
    logger.handlers = [_Terminal(show)]
    logger.propagate = False


def _config(application: ASGIApp, door: Door) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=connections_of(door),
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES * 2,
    )
