"""The proxy of a run: what goes through it, and how it is started, watched over and ended.

Requests to models go through it, or all that a run sends. It is started before the command. The
listeners are made here, and the proxy gets them: what connects before it is there waits, so the
command does not. Ours are closed then, so that nobody listens any more once the proxy is gone.
In a sandbox with a list of hosts they are made inside, and handed out (`sandbox.engines`).
"""

import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from siding.agents.table import BY_PROGRAM
from siding.agents.wire import pointed
from siding.ground.errors import SidingError, UsageError
from siding.ground.files.regular import read_small
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.lookout import Lookout
from siding.ground.process.broker.place import wire_beside
from siding.ground.process.capture import Running, start
from siding.ground.process.command import Command
from siding.ground.process.descriptors import pipe_above_standard
from siding.record.place.project import Project
from siding.sandbox.engines.values import Handover, Network
from siding.sandbox.sandbox import SandboxPlan
from siding.sandbox.wire.spec import INSIDE, CannotGoVia, Egress, Route, Spec, variables_in, via_for

_GOODBYE_S = 5.0  # it waits half a second for its clients, and then ends by itself
_FIRST_PORT = 61128  # inside: above those that the kernel gives programs that do not ask for one
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")
_PROXIED = ("http_proxy", "https_proxy", "all_proxy")
_LOCAL = "localhost,127.0.0.1,::1"
_LONGEST_SETTINGS = 4 << 20
_LONGEST_SPEC = 60_000  # bytes: what a pipe holds, so that nobody waits for the proxy
_NODE = {"NODE_USE_ENV_PROXY": "1"}  # Node.js looks at these variables only if it is told to


class WirePlan(NamedTuple):
    """What the proxy of a run does. `agent` is the name of the agent that is metered, "" for none
    that is known. `hosts` are the entries of the list of a sandbox, None without one."""

    meters: bool
    agent: str = ""
    hosts: tuple[str, ...] | None = None


def wire_plan(
    project: Project, program: str, asked: bool | None, sandbox: SandboxPlan, *, is_recorded: bool
) -> WirePlan | None:
    """Return what goes through a proxy, None for nothing.

    `asked` is what the command line says of metering; None: it is as set, for agents. Raises
    UsageError if that cannot be.
    """
    agent = BY_PROGRAM.get(os.path.basename(program))
    meters = asked
    if meters is None:
        meters = project.settings.agents_meter and agent is not None and is_recorded
    if meters and not is_recorded:
        raise UsageError(
            "--meter keeps what it counts in the step, and --no-record makes none",
            hint="leave one of them out",
        )
    network = None if sandbox.launch is None else sandbox.launch.network
    if meters and network in (Network.OFF, Network.LOOPBACK):
        if asked:
            raise UsageError(
                f"--meter measures requests, and with `network: {network}` there are none",
                hint="--network allow reaches the hosts that the agent needs, --network on all",
            )
        meters = False
    if not meters and sandbox.hosts is None:
        return None
    return WirePlan(bool(meters), "" if agent is None else agent.name, sandbox.hosts)


class Wired(NamedTuple):
    """A command that has a proxy: how it is started, and who watches over the proxy."""

    command: Command
    sandbox: SandboxPlan
    proxy: "RunningProxy"
    notes: tuple[str, ...]


class RunningProxy:
    """The proxy of one run as a process. `ended_at` is when it ended, if it did so by itself."""

    def __init__(self, helper: Running, lifeline: int, project: Project) -> None:
        self.lookout = Lookout(helper, self._has_ended)
        self.lifeline = lifeline
        self.ended_at = ""
        self._helper = helper
        self._project = project

    def close(self) -> None:
        """Let it write its last lines and end; the run is over."""
        self.lookout.look()
        self.lookout.close()
        if self.lifeline >= 0:
            os.close(self.lifeline)
            self.lifeline = -1
        try:
            said = self._helper.finish(timeout_s=_GOODBYE_S).stderr
        except SidingError as error:
            said = str(error).encode()
        if lines := said.decode("utf-8", "replace").strip().splitlines():
            self._project.app.warn(f"the proxy of the run said: {lines[-1][:300]}")

    def _has_ended(self) -> None:
        self.ended_at = self._project.app.now()


class _Listeners:
    """The listeners of a run, each of which stands in for one server."""

    def __init__(self, project: Project, env: Mapping[str, str], *, inside: bool) -> None:
        self.routes: list[Route] = []
        self.sockets: list[socket.socket] = []
        self.ports: list[int] = []
        self._by_url: dict[str, str] = {}
        self._random = project.app.random_bytes
        self._proxies = variables_in(env)
        self._is_inside = inside

    def port_of_egress(self) -> int:
        """Return the port at which programs inside ask for hosts."""
        return self._port()[1]

    def point(self, url: str) -> str:
        """Return the base URL that stands in for another one."""
        if url not in self._by_url:
            self._by_url[url] = self._made(url)
        return self._by_url[url]

    def _made(self, url: str) -> str:
        parts = urlsplit(url)
        host, tls = parts.hostname or "", parts.scheme == "https"
        listening, port = self._port()
        secret = self._random(16).hex()
        try:
            via = via_for(self._proxies, host, tls=tls)
        except CannotGoVia as error:
            raise UsageError(f"--meter: {error}") from None
        authority = parts.netloc.rpartition("@")[2]
        self.routes.append(
            Route(
                listening=listening,
                secret=secret,
                tls=tls,
                host=host,
                port=parts.port or (443 if tls else 80),
                authority=authority,
                via=via,
            )
        )
        return f"http://127.0.0.1:{port}/{secret}{parts.path.rstrip('/')}"

    def _port(self) -> tuple[int, int]:
        if self._is_inside:
            self.ports.append(_FIRST_PORT + len(self.ports))
            return INSIDE, self.ports[-1]
        listener = socket.socket()
        self.sockets.append(listener)
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        return listener.fileno(), int(listener.getsockname()[1])


@contextmanager
def opened(
    project: Project,
    plan: WirePlan,
    sandbox: SandboxPlan,
    command: Command,
    path: str | None,
    at: str,
) -> Iterator[Wired]:
    """Have a command's requests go through a proxy of its own, and yield how it is started then.

    The lines of what passes are in the file `path`, None for none. `at` is the socket of the
    run's broker, beside which a sandbox hands its listeners out.
    """
    inside = plan.hosts is not None
    listeners = _Listeners(project, command.env, inside=inside)
    egress, env = None, dict(command.env)
    if plan.hosts is not None:
        egress = Egress(plan.hosts, variables_in(command.env))
        env |= _through(listeners.port_of_egress())
    argv, notes = command.argv, tuple[str, ...]()
    if plan.meters:
        found = pointed(plan.agent, argv, command.env, listeners.point, _reader(command.cwd))
        argv, notes = found.argv, found.notes
        env |= found.env
        if not inside:
            env |= _not_through(command.env)
    with ExitStack() as stack:
        for each in listeners.sockets:
            stack.callback(each.close)
        waiting = None
        if inside:
            handover, waiting = _handover(at, listeners.ports)
            stack.callback(waiting.close)
            sandbox = _handing_out(sandbox, handover)
        given = [*listeners.sockets, *([] if waiting is None else [waiting])]
        spec = Spec(
            journal=path or "",
            lifeline=-1,
            routes=tuple(listeners.routes),
            egress=egress,
            handover=-1 if waiting is None else waiting.fileno(),
            env={name: command.env[name] for name in _CERTIFICATES if name in command.env},
        )
        proxy = _started(project, spec, [each.fileno() for each in given])
    try:
        yield Wired(command._replace(argv=argv, env=env), sandbox, proxy, notes)
    finally:
        proxy.close()


def _started(project: Project, spec: Spec, given: list[int]) -> RunningProxy:
    reading, writing = pipe_above_standard()
    try:
        helper = start(
            # With -m, Python looks for the package in the directory first: it must be one of ours.
            [sys.executable, "-m", "siding.sandbox.wire.program"],
            env={**project.app.env, "SIDING_HOME": str(project.app.home.root)},
            cwd=project.layout.root,
            stdin=_short_enough(spec._replace(lifeline=reading).encoded()),
            keep_fds=(reading, *given),
        )
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return RunningProxy(helper, writing, project)


def _short_enough(told: bytes) -> bytes:
    if len(told) > _LONGEST_SPEC:
        raise UsageError("the list of hosts is too long", hint="*.example.org stands for many")
    return told


def _handover(at: str, ports: list[int]) -> tuple[Handover, socket.socket]:
    """Return how a sandbox hands out its listeners, and the socket where they are waited for."""
    if not at:
        raise UsageError("there is no place for the socket of the run: is /tmp full?")
    path = wire_beside(at)
    waiting = socket.socket(socket.AF_UNIX)
    try:
        waiting.bind(str(path))
        path.chmod(0o600)
        waiting.listen(1)
    except BaseException:
        waiting.close()
        raise
    return Handover(os.path.realpath(sys.executable), str(path), tuple(ports)), waiting


def _handing_out(sandbox: SandboxPlan, handover: Handover) -> SandboxPlan:
    assert sandbox.launch is not None
    return sandbox._replace(launch=sandbox.launch._replace(handover=handover))


def _through(port: int) -> dict[str, str]:
    """Return the variables by which programs ask the proxy for hosts, in both spellings."""
    url = f"http://127.0.0.1:{port}"
    found = {"no_proxy": _LOCAL, **dict.fromkeys(_PROXIED, url)}
    return {**found, **{name.upper(): value for name, value in found.items()}, **_NODE}


def _not_through(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that keep the person's own proxy from getting what is for ours."""
    found = variables_in(env)
    if not any(name in found for name in _PROXIED):
        return {}
    local = ",".join(filter(None, [found.get("no_proxy", ""), _LOCAL]))
    return {"no_proxy": local, "NO_PROXY": local}


def _reader(cwd: Path) -> Callable[[str], str]:
    def read(name: str) -> str:
        found = read_small(cwd / name, _LONGEST_SETTINGS)
        if found is None:
            raise FileNotFoundError(name)
        return found.decode("utf-8")

    return read
