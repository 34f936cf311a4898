"""Show the project in a browser: the board, each step with its output and patch, and the inbox.

It listens on this machine only, needs the key that is in the address it prints, and ends when
nobody has used it for a while. Acts that change files (rolling back, applying, closing) also need
a code, which is shown in this terminal.

With --serve, paired devices (`siding devices pair`) reach it at that address as well, over TLS, and
nobody else does.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Protocol

from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.faces.web.server import Served
    from siding.record.place.dashboard import Dashboard
    from siding.record.place.project import Project
    from siding.record.place.wiring import App


IDLE_MINUTES = 30.0


class CommandScreen(Protocol):
    """The methods of the command line's screen that this command uses."""

    def print(self, text: str = "") -> None: ...
    def note(self, text: str, *styles: str) -> None: ...
    def warn(self, text: str) -> None: ...


class CommandContext(Protocol):
    """What the command line passes to a command."""

    @property
    def app(self) -> App: ...
    @property
    def screen(self) -> CommandScreen: ...


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=int, metavar="N", help="listen on this port (default: a free one)"
    )
    parser.add_argument(
        "--serve",
        metavar="[HOST:]PORT",
        help="also serve it to paired devices, over TLS, at this address of the machine",
    )
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    parser.add_argument(
        "--idle",
        type=float,
        default=IDLE_MINUTES,
        metavar="MINUTES",
        help=f"end when nobody has used it for so long (default: {IDLE_MINUTES:g})",
    )


def run(arguments: Namespace, context: CommandContext) -> int:
    from siding.record.place.dashboard import AlreadyRunning, only_dashboard, running_dashboard
    from siding.record.place.projects import project_for_people
    from siding.record.recording.calling_step import refuse_inside_step

    if not arguments.idle > 0:
        raise UsageError("--idle is a number of minutes above 0")
    if arguments.port is not None and not 1 <= arguments.port <= 65535:
        raise UsageError("--port is a number from 1 to 65535")
    # What a page switches to is not what the terminal of the server is about.
    project = project_for_people(context.app._replace(session=None), make=True)
    refuse_inside_step(
        project,
        "would read the codes that its dashboard shows a person",
        hint="it is for a person: `siding ui` in a terminal of your own",
    )
    screen = context.screen
    try:
        with only_dashboard(project):
            _serve(project, screen, arguments)
    except AlreadyRunning:
        running = running_dashboard(project)
        if running is None:
            raise
        screen.note(f"a dashboard of this project runs already (process {running.pid})")
        if arguments.serve is not None:
            how = f"is served at {running.served}" if running.served else "is not served to devices"
            screen.warn(f"it {how}; end it first to serve it anew")
        _say_address(project, screen, running, open_page=arguments.open)
    return 0


def _serve(project: Project, screen: CommandScreen, arguments: Namespace) -> None:
    from siding.faces.web.server import bind, serve

    served = None if arguments.serve is None else _served(project.app, arguments.serve)

    def ready(dashboard: Dashboard) -> None:
        _say_address(project, screen, dashboard, open_page=arguments.open)
        if served is not None:
            _say_served(screen, served)
        screen.note(f"Ctrl-C ends it; so do {arguments.idle:g} minutes in which nobody uses it")

    serve(
        project.app,
        project,
        bind(arguments.port),
        served=served,
        idle_s=arguments.idle * 60,
        show=screen.warn,
        ready=ready,
    )


def _served(app: App, text: str) -> Served:
    from siding.asking.devices.store import certificate_for
    from siding.faces.web.served import bind_served, served_address
    from siding.faces.web.server import Served

    address = served_address(text)
    certificate = certificate_for(app, address.names)
    return Served(address, bind_served(address), certificate)


def _say_served(screen: CommandScreen, served: Served) -> None:
    screen.note(f"paired devices reach it at {served.address.url}")
    screen.note(f"SHA-256 of its certificate: {served.certificate.fingerprint}")
    if served.certificate.is_new:
        screen.note("the certificate is new: each device has to compare it once")


def _say_address(
    project: Project, screen: CommandScreen, dashboard: Dashboard, *, open_page: bool
) -> None:
    from siding.record.place.dashboard import new_ticket, page_url

    screen.print(dashboard.url("/", f"key={dashboard.key}"))
    sys.stdout.flush()  # a program that started us reads the address from a pipe
    if not open_page:
        return
    import webbrowser

    address = page_url(project, "/", with_key=True)
    address = address or dashboard.url("/", f"ticket={new_ticket(project, dashboard.key)}")
    if not webbrowser.open(address):
        screen.warn("no browser could be started; open the address above")
