"""The engine Landlock: rules of the kernel for the trees that may be read, and those to be written.

`rules` makes them from a view, and is pure. Landlock can only allow whole trees; it cannot forbid a
part of one. So a directory is hidden by allowing its siblings instead, on every level above it.
Parts of a writable tree cannot be protected at all; `NOT_COVERED` names these and other gaps.
"""

import os
from collections.abc import Callable, Iterable, Iterator

from siding.ground.process.command import Command, SpawnPlan
from siding.ground.process.lookup import Program
from siding.sandbox.engines import kernel
from siding.sandbox.engines.kernel import PathRules
from siding.sandbox.engines.port import (
    FoundEngine,
    Hold,
    Known,
    Planned,
    Presence,
    Trial,
    filter_of,
)
from siding.sandbox.engines.values import Engine, Kind, Launch, Network, View, is_within

# Rights on files and directories; `rules` has the versions of the ABI that brought the newer ones.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST = (1 << 13) - 1  # the thirteen rights of version 1
_ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READING = EXECUTE | READ_FILE | READ_DIR
NET_BIND_TCP, NET_CONNECT_TCP = 1 << 0, 1 << 1
SCOPE_ABSTRACT, SCOPE_SIGNAL = 1 << 0, 1 << 1
_DEV = "/dev"
DEVICES = tuple(
    """
    /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx /dev/pts /dev/shm
    """.split()
)
NOT_COVERED = (
    "the workspace's .git file and other guarded files in it can be changed",
    "modes, owners, times and attributes of your own files can be changed",
    "sockets in the file system can be connected to",
    "names, sizes and times of files can be seen, also of hidden ones",
    "other processes and their command lines can be seen; as an ordinary user, "
    "priorities of your other processes can be changed",
    "your other terminals can be read and written",
    "shared memory of your other programs, and their semaphores and queues of System V",
    "an agent's own sandbox that mounts (bwrap) does not start inside",
)


class Landlock:
    """Landlock of the kernel. The forked child restricts itself before it execs the command."""

    name = Engine.LANDLOCK
    program = ""
    mounts = False
    apart = False
    is_warden = False
    left_open = (
        "Landlock holds this sandbox ({}): sockets of your session, your other terminals and "
        "shared memory stay open; `siding doctor --sandbox` has the whole list, and "
        "--sandbox=bwrap takes nothing less"
    )

    def found(self, here: FoundEngine, _known: Known | None, tried: Trial) -> FoundEngine:
        """Return whether it works here."""
        if here.setsid and here.version > 0 and not tried(_trial(here)):
            return here._replace(engine=self.name, apart=self.apart)
        return here.without("the kernel has no Landlock either")

    def plan(
        self, launch: Launch, command: Command, program: Program, *, tty: bool, hold: Hold
    ) -> Planned:
        """Return what the child does before it execs the command. Raises OSError."""
        version = kernel.landlock_version()
        domain = rules(launch.view, launch.network, version=version)
        ruleset = hold(kernel.ruleset(domain, version))
        code = launch.seccomp

        def enter() -> None:
            kernel.no_new_privileges()
            kernel.drop_capabilities()
            kernel.restrict(ruleset)
            if code:
                kernel.install_filter(code)

        return Planned(
            SpawnPlan(command=command, program=program, enter=enter, keep=(), takes_terminal=False)
        )

    def not_covered(
        self, found: FoundEngine, network: Network, *, filtered: bool
    ) -> tuple[str, ...]:
        """Return what it leaves open on this machine."""
        return not_covered(found.version, filtered=filtered, network=network)

    def presence(self, found: FoundEngine) -> Presence:
        """Return whether the kernel has it."""
        return Presence("Landlock is there", found.version > 0, f"version {found.version}")


def _trial(here: FoundEngine) -> Launch:
    return Launch(
        engine=Engine.LANDLOCK,
        view=View(mounts=()),
        network=Network.OFF,
        seccomp=filter_of(Network.OFF, apart=False),
        setsid=here.setsid,
    )


def scope_only() -> PathRules:
    """Return a domain that only blocks abstract sockets outside it (Landlock ABI 6)."""
    return PathRules(handled_fs=0, handled_net=0, scoped=SCOPE_ABSTRACT, paths=())


def rules(
    view: View,
    network: Network,
    *,
    version: int,
    listed: Callable[[str], Iterable[str]] = os.listdir,
    is_directory: Callable[[str], bool] = os.path.isdir,
) -> PathRules:
    """Return the domain of a run for a kernel with this `version` of the Landlock ABI."""
    handled = _FIRST | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    handled |= IOCTL_DEV if version >= 5 else 0
    paths: dict[str, int] = {}
    for path in _visible("/", view, listed, is_directory):
        paths[path] = READING & handled
    # Of devices only those that are listed: root could read a hidden file from the disk it is on.
    if not any(is_within(mount.path, _DEV) for mount in view.mounts):
        paths[_DEV] = READ_DIR
    for mount in view.mounts:
        if mount.kind in (Kind.SHOW, Kind.COPY):
            paths[mount.origin] = READING & handled
    for mount in view.mounts:
        if mount.kind is Kind.WRITE:
            paths[mount.origin] = handled
    for device in DEVICES:
        # Rights are for whole trees: where a home or a repository lies below, nobody gets that one.
        if not any(is_within(mount.path, device) for mount in view.mounts):
            paths[device] = handled
    paths = {
        path: rights if is_directory(path) else rights & _ON_FILES for path, rights in paths.items()
    }
    return PathRules(
        handled_fs=handled,
        handled_net=0 if network is Network.ON or version < 4 else NET_BIND_TCP | NET_CONNECT_TCP,
        scoped=SCOPE_ABSTRACT | SCOPE_SIGNAL if version >= 6 else 0,
        paths=tuple(paths.items()),
    )


def not_covered(version: int, *, filtered: bool, network: Network) -> tuple[str, ...]:
    """Return what this engine leaves open on this machine, as texts for the step's record."""
    found = list(NOT_COVERED)
    if version < 3:
        found.append("files outside can be cut short (truncate)")
    if version < 6:
        found.append("abstract sockets outside can be reached, processes outside signalled")
    if not filtered:
        found.append("no system call filter for this machine: keyrings, setuid files")
        if network is not Network.ON:
            found.append("UDP and other sockets than TCP")
    return tuple(found)


def _visible(
    top: str,
    view: View,
    listed: Callable[[str], Iterable[str]],
    is_directory: Callable[[str], bool],
) -> Iterator[str]:
    """Yield the topmost paths that have nothing hidden below them."""
    hidden = [m.path for m in view.mounts if m.kind in (Kind.BLANK, Kind.EMPTY, Kind.MASK)]
    hidden.append(_DEV)
    waiting = [top]
    while waiting:
        path = waiting.pop()
        if any(is_within(path, each) for each in hidden):
            continue
        if not any(is_within(each, path) for each in hidden):
            yield path
        elif is_directory(path):
            try:
                names = sorted(listed(path))
            except OSError:
                continue
            waiting += [os.path.join(path, name) for name in names]
