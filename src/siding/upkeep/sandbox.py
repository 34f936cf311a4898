"""Test on this machine, by running programs, what the sandbox blocks."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from siding.ground.files.durable import make_dirs
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Command
from siding.ground.process.lookup import Program
from siding.record.place.project import Project
from siding.sandbox.engines.cgroup import Delegation, delegation_here, own_groups
from siding.sandbox.engines.port import FoundEngine, SandboxEngine
from siding.sandbox.engines.probe import find_engine, program_at, tried
from siding.sandbox.engines.seccomp import Demand, compiled
from siding.sandbox.engines.table import ENGINES, engine_of
from siding.sandbox.engines.values import BindMount, Kind, Network, View
from siding.sandbox.request import SandboxRequest
from siding.sandbox.settings import SandboxMode, asked_of


class SandboxProof(NamedTuple):
    """The result of one test. If `needed` and not `holds`, the sandbox does not do what it says."""

    what: str
    holds: bool
    detail: str
    needed: bool = True


def prove(project: Project) -> Iterator[SandboxProof]:
    """Run the tests with the best engine of this machine and yield their results."""
    found = find_engine(project.app.env)
    for each in ENGINES:
        yield SandboxProof(*each.presence(found), needed=False)
    if found.engine is None:
        yield SandboxProof("an engine works", False, found.reason)
        return
    engine = engine_of(found.engine)
    yield SandboxProof("runs are sandboxed by", True, engine.name.value)
    known = bool(compiled(os.uname().machine, Demand()))
    yield SandboxProof("a system call filter", known, os.uname().machine, needed=False)
    yield kernel_limits(project.app.env, delegation_here(), own_groups())
    place = project.app.home.root / "cache" / "proof"
    make_dirs(place)
    yield from _writes(found, engine, Path(os.path.realpath(place)))
    yield from _network(found, engine)
    yield _nested(found, engine, program_at("bwrap", project.app.env))
    if engine.left_open:
        for gap in engine.not_covered(found, Network.ON, filtered=known):
            what = f"{engine.name.value.capitalize()} closes this"
            yield SandboxProof(what, False, gap, needed=False)


def kernel_limits(env: Mapping[str, str], groups: Delegation, own: str) -> SandboxProof:
    """Return whether runs get control groups, and what to do where the user could have them.

    `own` are the groups of this process, as /proc/self/cgroup has them.
    """
    what = "the kernel keeps limits of memory and processes (cgroup v2, delegated)"
    if groups.place is not None:
        return SandboxProof(what, True, str(groups.place), needed=False)
    detail = f"{groups.reason}; limits are kept by samples alone"
    # Sessions of ssh and of a console, and servers of tmux begun there, are not below the user's
    # service manager, which alone has a part of the tree that was delegated.
    manager = Path(env.get("XDG_RUNTIME_DIR") or "/nonexistent", "systemd/private")
    if manager.exists() and "/user@" not in own:
        detail += "; started by `systemd-run --user --scope` Siding has a place"
    return SandboxProof(what, False, detail, needed=False)


def engine_here(project: Project) -> tuple[str, str]:
    """Return the engine that works here, "" for none, and why there is none or no better one."""
    found = find_engine(project.app.env)
    return ("" if found.engine is None else found.engine.value, found.reason)


def missing_engine(project: Project) -> str | None:
    """Return why the sandbox that the settings ask for does not work; None if it works."""
    asked, _notes = asked_of(project, SandboxRequest())
    if (asked.mode or SandboxMode.OFF) is SandboxMode.OFF:
        return None
    found = find_engine(project.app.env)
    return None if found.engine is not None else found.reason


def _writes(found: FoundEngine, engine: SandboxEngine, place: Path) -> Iterator[SandboxProof]:
    inside, outside = place / "inside", place / "outside"
    for directory in (inside, outside):
        make_dirs(directory)
    (outside / "secret").write_text("secret\n", encoding="ascii")
    view = View(mounts=(BindMount(kind=Kind.WRITE, path=str(inside)),))
    wrote, why = _python(found, view, Network.ON, f"open({str(inside / 'x')!r}, 'w')")
    yield SandboxProof("the workspace can be written", wrote, why)
    wrote, _why = _python(found, view, Network.ON, f"open({str(outside / 'x')!r}, 'w')")
    yield SandboxProof(
        "nothing else can be written", not wrote and not (outside / "x").exists(), ""
    )
    hiding = View(
        mounts=(BindMount(kind=Kind.EMPTY, path=str(outside)), *view.mounts),
    )
    read, _why = _python(found, hiding, Network.ON, f"open({str(outside / 'secret')!r}).read()")
    yield SandboxProof("what is hidden cannot be read", not read, "")
    if engine.mounts:
        yield _copied(found, inside, outside)


def _copied(found: FoundEngine, copy: Path, real: Path) -> SandboxProof:
    """Test that a write to the workspace's git directory goes into a copy of it."""
    view = View(mounts=(BindMount(kind=Kind.WRITE, path=str(real), source=str(copy)),))
    (copy / "HEAD").unlink(missing_ok=True)
    wrote, why = _python(found, view, Network.ON, f"open({str(real / 'HEAD')!r}, 'w')")
    holds = wrote and (copy / "HEAD").exists() and not (real / "HEAD").exists()
    return SandboxProof("what git writes inside goes into a copy", holds, why)


def _network(found: FoundEngine, engine: SandboxEngine) -> Iterator[SandboxProof]:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        reach = f"import socket; socket.create_connection({server.getsockname()!r}, timeout=5)"
        view = View(mounts=())
        reached, why = _python(found, view, Network.ON, reach)
        yield SandboxProof("network on: a server is reached", reached, why)
        reached, _why = _python(found, view, Network.OFF, reach)
        yield SandboxProof("network off: it is not", not reached, "")
        datagram = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
        made, _why = _python(found, view, Network.OFF, datagram)
        yield SandboxProof("network off: no UDP either", not made, "")
        if engine.apart:
            own = "import socket; s = socket.create_server(('127.0.0.1', 0)); "
            own += "socket.create_connection(s.getsockname(), timeout=5)"
            worked, why = _python(found, view, Network.LOOPBACK, own)
            yield SandboxProof("network loopback: its own server is reached", worked, why)
            reached, _why = _python(found, view, Network.LOOPBACK, reach)
            yield SandboxProof("network loopback: this machine's is not", not reached, "")


def _nested(found: FoundEngine, engine: SandboxEngine, bwrap: str) -> SandboxProof:
    """Test that an agent's own sandbox, which mostly is bwrap, starts inside ours."""
    what = "an agent's own sandbox (bwrap) starts inside"
    if not engine.mounts:
        return SandboxProof(what, False, "not with this engine", needed=False)
    if not bwrap:
        return SandboxProof(what, False, "bubblewrap (bwrap) is not installed", needed=False)
    argv = (
        bwrap,
        "--unshare-user",
        "--unshare-pid",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "true",
    )
    status, why = _run(found, View(mounts=()), Network.ON, argv)
    return SandboxProof(what, status == 0, why, needed=False)


def _python(found: FoundEngine, view: View, network: Network, source: str) -> tuple[bool, str]:
    argv = (sys.executable, "-I", "-S", "-c", source)
    status, why = _run(found, view, network, argv)
    return status == 0, why


def _run(
    found: FoundEngine, view: View, network: Network, argv: tuple[str, ...]
) -> tuple[int, str]:
    command = Command(argv=argv, cwd=Path("/"), env={"PATH": os.defpath})
    return tried(found.launch(view, network), command, Program(argv[0]))


__all__ = ["SandboxProof", "missing_engine", "prove"]
