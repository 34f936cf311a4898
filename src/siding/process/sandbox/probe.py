"""Finding out by executing what holds on this machine, whatever is installed.

A probe of bwrap sets a whole sandbox up, as a run would, and runs `true` in it. A positive answer
is kept until the machine is started again or the program changes (`Known`); a negative one is not.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from siding.process.command import Command
from siding.process.lookup import Program, find_program
from siding.process.sandbox.seccomp import compiled
from siding.process.sandbox.start import Sandboxed
from siding.process.sandbox.values import Engine, Kind, Launch, Mount, Network, View

if TYPE_CHECKING:
    from siding.process.spawn import Child

PROBE_TIMEOUT_S = 10.0
_UNIX_SOCKETS = "/proc/net/unix"
_MOST_SOCKETS = 500  # that are masked; each is a mount


class Known(NamedTuple):
    """What was found out about bwrap. ``key`` names the circumstances it holds in."""

    key: str
    bwrap: str
    userns: bool
    scoped: bool


class Found(NamedTuple):
    """An engine that works here, or None and why. ``known`` is worth keeping."""

    engine: Engine | None
    bwrap: str
    userns: bool
    setsid: str
    reason: str  # why it is not bwrap, "" when it is
    version: int  # of Landlock
    known: Known | None
    scoped: bool = False  # bwrap starts in a domain that cuts off abstract sockets

    def launch(self, view: View, network: Network, env: tuple[tuple[str, str], ...] = ()) -> Launch:
        """Return how a command is started with this engine; there is one."""
        assert self.engine is not None
        return Launch(
            engine=self.engine,
            view=view,
            network=network,
            seccomp=compiled(os.uname().machine, network_off=network is Network.OFF),
            setsid=self.setsid,
            bwrap=self.bwrap,
            userns=self.userns,
            nobody=os.geteuid() == 0,
            scoped=self.scoped,
            env=env,
        )


def find_engine(env: Mapping[str, str], known: Known | None = None) -> Found:
    """Return the best engine that works; ``known`` saves executing what was executed before."""
    setsid, bwrap = _program("setsid", env), _program("bwrap", env)
    version = _landlock_version()
    found = Found(
        engine=None,
        bwrap=bwrap or "",
        userns=True,
        setsid=setsid or "",
        reason="",
        version=version,
        known=None,
    )
    if setsid is None:
        reason = "there is no setsid (util-linux) on the search path"
    elif bwrap is None:
        reason = "bubblewrap (bwrap) is not installed"
    else:
        key = circumstances(bwrap)
        if known is not None and known.key == key and known.bwrap == bwrap:
            return _with_bwrap(found, known)
        reason = ""
        for userns in (True, False) if os.geteuid() == 0 else (True,):
            reason = _try_bwrap(bwrap, setsid, userns=userns, network=Network.OFF)
            if not reason:
                # A bwrap that is setuid root has no rights in a domain: it must do without.
                scoped = version >= 6 and not _try_bwrap(bwrap, setsid, userns=userns)
                kept = Known(key=key, bwrap=bwrap, userns=userns, scoped=scoped)
                return _with_bwrap(found, kept)
        reason = f"bwrap does not work here: {reason}"
    if setsid is not None and version > 0 and _landlock_works(setsid):
        return found._replace(engine=Engine.LANDLOCK, reason=reason)
    return found._replace(reason=f"{reason}; the kernel has no Landlock either")


def circumstances(bwrap: str) -> str:
    """Return what the answer about a bwrap depends on: this boot, this user, this program."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        boot = ""
    seen = os.stat(bwrap)
    kernel = os.uname().release
    return f"{boot}:{kernel}:{os.geteuid()}:{bwrap}:{seen.st_size}:{seen.st_mtime_ns}"


def _with_bwrap(found: Found, known: Known) -> Found:
    return found._replace(
        engine=Engine.BWRAP, userns=known.userns, scoped=known.scoped, known=known
    )


def _try_bwrap(bwrap: str, setsid: str, *, userns: bool, network: Network = Network.ON) -> str:
    """Return "" when a whole sandbox can be set up with it, else what it said.

    With the machine's network it starts in a domain of its own.
    """
    launch = Launch(
        engine=Engine.BWRAP,
        view=View(mounts=(Mount(kind=Kind.EMPTY, path="/tmp"),)),
        network=network,
        seccomp=compiled(os.uname().machine, network_off=network is Network.OFF),
        setsid=setsid,
        bwrap=bwrap,
        userns=userns,
        nobody=os.geteuid() == 0,
        scoped=True,
    )
    return _tried(launch)


def listening_sockets() -> list[str]:
    """Return the sockets of the file system that somebody listens on."""
    try:
        text = Path(_UNIX_SOCKETS).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    names = (line.split(" ", 7)[-1] for line in text.splitlines()[1:])
    found = {name for name in names if name.startswith("/")}
    return [path for path in sorted(found) if os.path.exists(path)][:_MOST_SOCKETS]


def _landlock_version() -> int:
    if os.uname().sysname != "Linux":
        return 0
    from siding.process.sandbox.kernel import landlock_version

    return landlock_version()


def _landlock_works(setsid: str) -> bool:
    launch = Launch(
        engine=Engine.LANDLOCK,
        view=View(mounts=()),
        network=Network.OFF,
        seccomp=compiled(os.uname().machine, network_off=True),
        setsid=setsid,
    )
    return not _tried(launch)


def _tried(launch: Launch) -> str:
    """Run `true` in a sandbox; return what went wrong."""
    program = find_program(["true"], {}, Path("/"))
    if not isinstance(program, Program):
        return "there is no `true` to try it with"
    command = Command(argv=("true",), cwd=Path("/"), env={"PATH": os.defpath})
    return tried(launch, command, program)[1]


def tried(launch: Launch, command: Command, program: Program) -> tuple[int, str]:
    """Run a command in a sandbox, with nothing to read; return its status and what went wrong."""
    from siding.process.spawn import spawn_piped  # only who probes starts anything

    sandboxed = Sandboxed(launch)
    try:
        try:
            wall = sandboxed.wall(command, program, tty=False)
            started = spawn_piped(wall.command, wall.program, stdin=None, wall=wall)
        except OSError as error:
            return -1, error.strerror or str(error)
        sandboxed.started()
        said = _read_both(started.stdout, started.stderr)
        status = _waited(started.child)
        if status == 0 and sandboxed.was_started():
            return 0, ""
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return status, lines[-1][:200] if lines else f"it ended with {status}"
    finally:
        sandboxed.close()


def _read_both(stdout: int, stderr: int) -> bytes:
    """Return what comes on the second, to its end or for as long as a probe may take."""
    import select
    import time

    end = time.monotonic() + PROBE_TIMEOUT_S
    said, open_fds = b"", {stdout, stderr}
    while open_fds and (left := end - time.monotonic()) > 0:
        for fd in select.select(list(open_fds), [], [], left)[0]:
            block = os.read(fd, 4096)
            if not block:
                open_fds.discard(fd)
            elif fd == stderr:
                said += block
    os.close(stdout)
    os.close(stderr)
    return said


def _waited(child: "Child") -> int:
    import signal
    import time

    end = time.monotonic() + PROBE_TIMEOUT_S
    while (status := child.poll()) is None:
        if time.monotonic() > end:
            os.killpg(child.pid, signal.SIGKILL)
        time.sleep(0.0005)
    return status


def _program(name: str, env: Mapping[str, str]) -> str | None:
    """Return a program's absolute path; directories that are named relatively do not count."""
    path = ":".join(each for each in env.get("PATH", "").split(":") if each.startswith("/"))
    found = find_program([name], {"PATH": path} if path else {}, Path("/"))
    return found.path if isinstance(found, Program) else None
