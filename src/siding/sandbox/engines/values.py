"""Values: what a sandboxed run may see, write and reach."""

from enum import StrEnum

from siding.ground.namedtuples import NamedTuple


class Engine(StrEnum):
    """The program or kernel feature that makes the sandbox."""

    BWRAP = "bwrap"
    LANDLOCK = "landlock"


class Network(StrEnum):
    """The part of the network that a run has."""

    ON = "on"  # the machine's own
    ALLOW = "allow"  # hosts that are listed, through a proxy of the run's
    LOOPBACK = "loopback"  # a 127.0.0.1 of its own, and nothing else
    OFF = "off"  # no IP sockets at all


class GitAccess(StrEnum):
    """What a run may do with the repository of its workspace."""

    READ = "read"
    COMMIT = "commit"  # also stage and commit, on branches of its own; see `record.quarantine`


class Kind(StrEnum):
    """What the command sees at a path."""

    BLANK = "blank"  # an empty directory, read-only
    EMPTY = "empty"  # an empty, writable directory; it is lost when the run ends
    SHOW = "show"  # what is there outside, read-only
    WRITE = "write"  # what is there outside, writable
    COPY = "copy"  # a private copy of a file; it is lost when the run ends
    MASK = "mask"  # a socket or file that is made unreachable
    LINK = "link"  # a symbolic link to ``source``


class BindMount(NamedTuple):
    """One path of a view. ``source`` is the path outside; when it is "" that is ``path`` too."""

    kind: Kind
    path: str
    source: str = ""

    @property
    def origin(self) -> str:
        return self.source or self.path


class View(NamedTuple):
    """The file system of a run: all is read-only but for these mounts. Parents come first."""

    mounts: tuple[BindMount, ...]

    def kind_of(self, path: str) -> Kind:
        """Return the kind of the nearest mount at or above a path; SHOW when there is none."""
        found, longest = Kind.SHOW, -1
        for mount in self.mounts:
            if is_within(path, mount.path) and len(mount.path) > longest:
                found, longest = mount.kind, len(mount.path)
        return found

    def hides(self, path: str) -> bool:
        """Tell whether an empty directory is seen in the place of a path, or of one above it."""
        return self.kind_of(path) in (Kind.BLANK, Kind.EMPTY)


class Places(NamedTuple):
    """The directories that a view is made from. Paths are absolute, with links resolved.

    ``homes``: the person's home first. ``state`` is Siding's own home. ``checkout`` is the main
    worktree, None for a bare repository. ``programs`` are the directories of the PATH, and
    ``program`` is the command's file; their links are not resolved. ``own`` are the directories of
    Siding itself: its package, its interpreter, their libraries. ``names`` are the same places
    under the names that the run knows (HOME, the working directory), links not resolved either.
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
    own: tuple[str, ...] = ()


class StagedCache(NamedTuple):
    """A cache of a package manager: a run has what is ``staged`` at its ``path``, writable. The
    person's own (``source``) is read-only at ``shown``, and links lead there."""

    path: str
    staged: str
    shown: str
    source: str


class SandboxRequirements(NamedTuple):
    """What settings and command line ask for. ``read`` and ``write`` are absolute paths.

    ``reads_only``: the run works in a copy of what is in the workspace, and may not write there.
    ``replaced``: files that are seen as other files are. ``hidden_files`` and
    ``hidden_directories`` are not seen, wherever they are.
    """

    network: Network = Network.ON
    git: GitAccess = GitAccess.COMMIT
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    caches: tuple[StagedCache, ...] = ()
    reads_only: bool = False
    replaced: tuple[tuple[str, str], ...] = ()
    hidden_files: tuple[str, ...] = ()
    hidden_directories: tuple[str, ...] = ()


class Quarantine(NamedTuple):
    """Directories outside the sandbox for what git writes inside it.

    They take objects, branches (``heads``), and changes to a copy of the workspace's git directory.
    """

    objects: str
    heads: str
    git_dir: str


class Handover(NamedTuple):
    """How a sandbox gives listeners away: who does it inside, over which socket, at which ports."""

    python: str  # the interpreter, an absolute path
    socket: str
    ports: tuple[int, ...]


class Secluded(NamedTuple):
    """Variables of the environment that the command gets and nobody else inside can read.

    The token of the step is one of them by itself.
    """

    python: str  # the interpreter that hands them in, an absolute path
    names: tuple[str, ...]


class Launch(NamedTuple):
    """All that starting a sandbox needs.

    ``seccomp`` is a compiled filter, b"" when there is none for this machine. ``program`` is that
    of the engine, "" if it is none; it and ``setsid`` are absolute paths. ``env`` overrides the
    command's environment. ``nobody`` is True when we are root: inside, the command runs as the user
    nobody, or with ``stays_root`` as a root without privileges. ``scoped`` is True when the kernel
    can block abstract sockets outside (Landlock ABI 6).
    """

    engine: Engine
    view: View
    network: Network
    seccomp: bytes
    setsid: str
    program: str = ""
    userns: bool = True
    nobody: bool = False
    stays_root: bool = False
    scoped: bool = False
    room: int | None = None  # bytes that each EMPTY directory may hold; a tmpfs lives in memory
    rooms: int | None = None  # what all of them may hold together
    env: tuple[tuple[str, str], ...] = ()
    handover: Handover | None = None  # of listeners, before the command begins
    secluded: Secluded | None = None


def is_within(path: str, directory: str) -> bool:
    """Return whether a path is the directory or lies below it.

    Both must be absolute and without ``..``.
    """
    return path == directory or path.startswith(directory.rstrip("/") + "/")
