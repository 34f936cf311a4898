"""The engine bubblewrap: a program that starts the command in namespaces of its own.

`arguments` turns a view into its arguments, and is pure. bwrap is started in place of the command,
and starts the command inside. As much as possible is prepared before that, where an error can still
be raised.

We do not use `--new-session`, which would take the terminal away. Instead the command becomes
leader of a session inside the sandbox (`setsid`), with its terminal if it has one. So signals of
the terminal reach the command and not bwrap, whose end would kill the command at once. The system
call filter keeps the command from typing into a terminal (TIOCSTI), which `--new-session` is for.
"""

import fcntl
import os
import stat
from collections.abc import Mapping

from siding.ground.files.durable import write_all
from siding.ground.process.command import (
    TOKEN_VARIABLE,
    Command,
    Enter,
    SpawnPlan,
    with_marks_alone,
)
from siding.ground.process.lookup import Program
from siding.sandbox.engines import handing_in, handing_out, kernel
from siding.sandbox.engines.landlock import scope_only
from siding.sandbox.engines.port import (
    FoundEngine,
    Hold,
    Known,
    Planned,
    Presence,
    Trial,
    circumstances,
    filter_of,
)
from siding.sandbox.engines.values import BindMount, Engine, Kind, Launch, Network, View

_LARGEST_COPY = 64 << 20

NOBODY = "65534"
_ROOT = "0"
_SHARED = "/dev/shm"
_SHARES = {"/tmp": 10, _SHARED: 4, "/var/tmp": 2, "/run": 1}
_OF_A_HOME = 6
_LOGS = "/logs/refs/heads"  # of git, which writes little there
# Root owns these files of the kernel, and the owner may write them in any namespace and without any
# capability. An ordinary user may not write them; for that user they are not mounted read-only,
# because the kernel lets a nested sandbox mount /proc only where nothing covers parts of it.
_KERNEL = tuple(
    word
    for name in ("sys", "sysrq-trigger", "bus", "fs", "irq", "acpi", "scsi", "driver")
    for word in ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")
)


class Bwrap:
    """Bubblewrap. It is the warden of the run: our child is bwrap, the command its grandchild."""

    name = Engine.BWRAP
    program = "bwrap"
    mounts = True
    apart = True
    is_warden = True
    left_open = ""

    def found(self, here: FoundEngine, known: Known | None, tried: Trial) -> FoundEngine:
        """Return whether it works here; with a `known` that still holds, nothing is tried."""
        if not here.setsid:
            return here.without("there is no setsid (util-linux) on the search path")
        if not here.program:
            return here.without("bubblewrap (bwrap) is not installed")
        key, reason = circumstances(here.program), ""
        if known is not None and known.is_about(self.name, key, here.program):
            return _as_known(here, known)
        for userns in (True, False) if os.geteuid() == 0 else (True,):
            reason = tried(_trial(here, userns=userns, network=Network.OFF))
            if not reason:
                # Entering a domain needs no_new_privs, and a bwrap that is setuid root gets no
                # root rights then. Such a bwrap runs without a domain.
                scoped = here.version >= 6 and not tried(_trial(here, userns=userns))
                kept = Known(
                    engine=self.name, key=key, program=here.program, userns=userns, scoped=scoped
                )
                return _as_known(here, kept)
        return here.without(f"bwrap does not work here: {reason}")

    def plan(
        self, launch: Launch, command: Command, program: Program, *, tty: bool, hold: Hold
    ) -> Planned:
        """Return what is started: bwrap, which starts the command inside. Raises OSError."""
        masked = _without_the_gone(launch.view)
        launch = launch._replace(view=masked)
        told, status = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        keep = [hold(status)]
        if launch.seccomp:
            keep.append(hold(_in_memory(launch.seccomp)))
        seccomp = keep[1] if launch.seccomp else None
        copies: dict[str, int] = {}
        for mount in launch.view.mounts:
            if mount.kind is Kind.COPY and (content := _content(mount.origin)) is not None:
                copies[mount.path] = hold(_in_memory(content))
        env, handed_in = _handed_in(launch, command.env, hold)
        outer = arguments(
            launch, cwd=str(command.cwd), status_fd=status, seccomp_fd=seccomp, copies=copies
        )
        setsid = [launch.setsid, *(["--ctty"] if tty else [])]
        first = (*_first_inside(launch), *_hands_in(launch, handed_in))
        argv = (*outer, *setsid, *first, program.path, *command.argv[1:])
        spawn = SpawnPlan(
            command=command._replace(argv=argv, env=env),
            program=Program(launch.program),
            enter=_scope(hold) if launch.scoped and launch.network is Network.ON else None,
            keep=(*keep, *copies.values(), *handed_in),
            takes_terminal=tty,
            is_warden=True,
        )
        return Planned(spawn, told=told, is_outdated=lambda: _without_the_gone(masked) != masked)

    def not_covered(
        self, found: FoundEngine, network: Network, *, filtered: bool
    ) -> tuple[str, ...]:
        """Return what it leaves open on this machine."""
        open_ways: list[str] = []
        if network is Network.ALLOW:
            open_ways.append("what is sent to an allowed host, nobody here can see")
        if network is Network.ON:
            open_ways.append("servers of this machine and the network can be reached")
            if not found.scoped:
                open_ways.append("abstract sockets outside can be reached")
        if not filtered:
            open_ways.append("no system call filter for this machine: keyrings, setuid files")
        return tuple(open_ways)

    def presence(self, found: FoundEngine) -> Presence:
        """Return whether it works here."""
        works = found.engine is self.name
        return Presence("bwrap works", works, found.program if works else found.reason)


def _as_known(here: FoundEngine, known: Known) -> FoundEngine:
    return here._replace(engine=known.engine, userns=known.userns, scoped=known.scoped, known=known)


def _trial(here: FoundEngine, *, userns: bool, network: Network = Network.ON) -> Launch:
    """Return a whole sandbox, to try whether bwrap can set it up.

    With the machine's network (`Network.ON`) bwrap is started in a Landlock domain.
    """
    return Launch(
        engine=Engine.BWRAP,
        view=View(mounts=(BindMount(kind=Kind.EMPTY, path="/tmp"),)),
        network=network,
        seccomp=filter_of(network, apart=True),
        setsid=here.setsid,
        program=here.program,
        userns=userns,
        nobody=os.geteuid() == 0,
        scoped=True,
    )


def arguments(
    launch: Launch,
    *,
    cwd: str,
    status_fd: int,
    seccomp_fd: int | None,
    copies: Mapping[str, int],
) -> list[str]:
    """Return bwrap's argument list up to the command.

    bwrap writes JSON on ``status_fd``, with ``exit-code`` only if the command was started.
    ``copies`` maps a path inside to the descriptor of the file to copy there.
    """
    argv = [launch.program]
    if launch.userns:
        argv.append("--unshare-user")
    argv += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if launch.network is not Network.ON:
        argv.append("--unshare-net")
    # bwrap leaves root its capabilities unless told otherwise. Inside, root becomes nobody. An
    # agent can then make a sandbox of its own, which the kernel denies a root without them.
    argv += ["--die-with-parent", "--cap-drop", "ALL"]
    if launch.nobody and launch.userns:
        user = _ROOT if launch.stays_root else NOBODY
        argv += ["--uid", user, "--gid", user]
    argv += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    if launch.nobody:
        argv += _KERNEL
    rooms = sizes(launch)
    if rooms:
        # Files could be written beside the devices, too, so that /dev is closed but for /dev/shm.
        argv += ["--size", str(rooms[_SHARED]), "--perms", "1777", "--tmpfs", _SHARED]
        argv += ["--remount-ro", "/dev"]
    for mount in launch.view.mounts:
        if mount.path in rooms and mount.kind is Kind.EMPTY:
            argv += ["--size", str(rooms[mount.path])]
        argv += _mount(mount, copies)
    for mount in launch.view.mounts:
        if mount.kind is Kind.BLANK:
            argv += ["--remount-ro", mount.path]
    argv += ["--chdir", cwd, "--json-status-fd", str(status_fd)]
    if seccomp_fd is not None:
        argv += ["--seccomp", str(seccomp_fd)]
    return [*argv, "--"]


def sizes(launch: Launch) -> dict[str, int]:
    """Return how many bytes each directory in memory may hold, by its path; {} without limits.

    Of what they may hold together most goes to /tmp and the home, which programs use most.
    """
    if launch.rooms is None:
        return {}
    paths = [mount.path for mount in launch.view.mounts if mount.kind is Kind.EMPTY]
    shares = {path: _SHARES.get(path, _OF_A_HOME) for path in paths}
    shares |= {path: 1 for path in paths if path.endswith(_LOGS)}
    shares[_SHARED] = _SHARES[_SHARED]
    whole = sum(shares.values())
    found = {path: launch.rooms * share // whole for path, share in shares.items()}
    return found if launch.room is None else {k: min(v, launch.room) for k, v in found.items()}


def _mount(mount: BindMount, copies: Mapping[str, int]) -> list[str]:
    match mount.kind:
        case Kind.BLANK:
            return ["--tmpfs", mount.path]
        case Kind.EMPTY:
            mode = "1777" if mount.path in ("/tmp", "/var/tmp") else "0755"
            return ["--perms", mode, "--tmpfs", mount.path]
        case Kind.SHOW:
            return ["--ro-bind", mount.origin, mount.path]
        case Kind.WRITE:
            return ["--bind", mount.origin, mount.path]
        case Kind.COPY:
            if mount.path not in copies:
                return []  # the file was removed after the view was made
            return ["--perms", "0600", "--file", str(copies[mount.path]), mount.path]
        case Kind.LINK:
            return ["--symlink", mount.source, mount.path]
        case Kind.MASK:
            return ["--ro-bind-try", "/dev/null", mount.path]


def _handed_in(
    launch: Launch, env: dict[str, str], hold: Hold
) -> tuple[dict[str, str], tuple[int, ...]]:
    """Return the environment of bwrap, and the pipe with what the command gets beside it."""
    secluded = launch.secluded
    if secluded is None:
        return env, ()
    apart = {name: env[name] for name in (*secluded.names, TOKEN_VARIABLE) if name in env}
    rest = {name: value for name, value in env.items() if name not in secluded.names}
    reading, writing = os.pipe2(os.O_CLOEXEC)
    hold(reading)
    with open(writing, "wb", buffering=0) as pipe:
        data = b"".join(os.fsencode(f"{name}={value}\0") for name, value in apart.items())
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, max(len(data), 1 << 16))  # nobody reads yet
        write_all(writing, data)
        pipe.flush()
    return with_marks_alone(rest), (reading,)


def _hands_in(launch: Launch, pipe: tuple[int, ...]) -> tuple[str, ...]:
    """Return the words of what takes the variables inside, and becomes the command."""
    if launch.secluded is None:
        return ()
    python = launch.secluded.python
    return (python, "-S", "-E", "-I", handing_in.__file__, *map(str, pipe), "--")


def _scope(hold: Hold) -> Enter:
    """Return a function that blocks abstract sockets outside.

    Abstract sockets belong to the network namespace, which the sandbox shares with the machine.
    """
    ruleset = hold(kernel.ruleset(scope_only(), kernel.landlock_version()))

    def enter() -> None:
        kernel.no_new_privileges()
        kernel.restrict(ruleset)

    return enter


def _first_inside(launch: Launch) -> tuple[str, ...]:
    """Return the words of what runs before the command, in its place, and becomes it."""
    if launch.handover is None:
        return ()
    python, socket, ports = launch.handover
    return (python, "-S", "-E", "-I", handing_out.__file__, socket, *map(str, ports), "--")


def _without_the_gone(view: View) -> View:
    """Leave out what hides something that no longer exists: bwrap can make nothing where all is
    read-only.

    Sockets, and directories that only root may enter, come and go at any time. The view was planned
    a moment ago.
    """
    hides = (Kind.MASK, Kind.BLANK)
    there = (m for m in view.mounts if m.kind not in hides or os.path.lexists(m.path))
    return View(mounts=tuple(there))


def _in_memory(data: bytes) -> int:
    fd = os.memfd_create("siding", os.MFD_CLOEXEC)
    write_all(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _content(path: str) -> bytes | None:
    """Return the bytes of a file, at most `_LARGEST_COPY`; None when it is no regular file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(fd, "rb") as file:
        return file.read(_LARGEST_COPY) if stat.S_ISREG(os.fstat(fd).st_mode) else None
