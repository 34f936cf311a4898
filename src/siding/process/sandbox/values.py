"""What a sandboxed run may see, write and reach. Values only."""

from enum import StrEnum
from typing import NamedTuple


class Engine(StrEnum):
    """What builds the sandbox."""

    BWRAP = "bwrap"
    LANDLOCK = "landlock"


class Network(StrEnum):
    """What of the network a run has."""

    ON = "on"  # the machine's own
    LOOPBACK = "loopback"  # a 127.0.0.1 of its own, and nothing else
    OFF = "off"  # no IP sockets at all


class GitAccess(StrEnum):
    """What a run may do with the repository its workspace belongs to."""

    READ = "read"
    COMMIT = "commit"  # also stage and commit, on branches of its own; see `git.quarantine`


class Kind(StrEnum):
    """What lies at a path, seen from inside."""

    BLANK = "blank"  # an empty directory, read-only
    EMPTY = "empty"  # an empty directory to write in, gone afterwards
    SHOW = "show"  # what is there, read-only
    WRITE = "write"  # what is there, writable
    COPY = "copy"  # a private copy of a file, gone afterwards
    MASK = "mask"  # a socket or file that is made unreachable
    LINK = "link"  # a symbolic link to ``source``


class Mount(NamedTuple):
    """One path of a view. ``source`` is where it comes from outside, ``path`` itself when empty."""

    kind: Kind
    path: str
    source: str = ""

    @property
    def origin(self) -> str:
        return self.source or self.path


class View(NamedTuple):
    """The file system of a run: everything read-only, but for these. Parents come first."""

    mounts: tuple[Mount, ...]

    def kind_of(self, path: str) -> Kind:
        """Return how a path is seen: what the nearest mount at or above it makes of it."""
        found, longest = Kind.SHOW, -1
        for mount in self.mounts:
            if is_within(path, mount.path) and len(mount.path) > longest:
                found, longest = mount.kind, len(mount.path)
        return found


class Places(NamedTuple):
    """Where things are, absolute and with links resolved.

    ``homes``: the person's home first. ``state`` is Siding's own home. ``checkout`` is the main
    worktree, None for a bare repository. ``programs`` are directories of the search path, and
    ``program`` the command's own file, links not resolved. ``names`` are paths that the run knows
    places by, links not resolved either.
    """

    workspace: str
    common_dir: str
    git_dir: str
    checkout: str | None
    state: str
    homes: tuple[str, ...]
    programs: tuple[str, ...]
    program: str
    names: tuple[str, ...] = ()


class Demand(NamedTuple):
    """What is asked for: lists of absolute paths, and modes."""

    profile: str = "auto"
    network: Network = Network.ON
    git: GitAccess = GitAccess.COMMIT
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


class Quarantine(NamedTuple):
    """Directories outside that take what git writes inside: objects, branches, and a copy of the
    workspace's git directory."""

    objects: str
    heads: str
    git_dir: str


class Launch(NamedTuple):
    """A sandbox ready to be started.

    ``seccomp`` is a compiled filter, b"" where none is known for this machine. ``bwrap`` and
    ``setsid`` are absolute paths. ``env`` is laid over the command's environment. ``nobody``: we
    are root, and the command is shown as nobody. ``scoped``: the kernel can cut off abstract
    sockets outside (Landlock 6).
    """

    engine: Engine
    view: View
    network: Network
    seccomp: bytes
    setsid: str
    bwrap: str = ""
    userns: bool = True
    nobody: bool = False
    scoped: bool = False
    room: int | None = None  # bytes that each empty place may hold: they live in memory
    env: tuple[tuple[str, str], ...] = ()


def is_within(path: str, directory: str) -> bool:
    """Whether a path is the directory or lies below it; both absolute and without ``..``."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")
