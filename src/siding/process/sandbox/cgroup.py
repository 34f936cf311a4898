"""A control group (cgroup v2) of a sandboxed run's own, where the machine delegates them.

The kernel then keeps the limits on memory and processes, also between two samples of
`process.limits`. A group can be made without privileges in a directory of the tree that was
delegated to this user and whose controllers are enabled for groups below it; under systemd that is
the case in a user's session. Nothing is enabled, and no process but the run is moved.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from siding.namedtuples import NamedTuple
from siding.process.limits import Breach, Limits

CONTROLLERS = frozenset({"memory", "pids"})
_THREADS = 32  # pids.max counts threads, the limit counts processes: so many threads for each
_OURS = 2  # bwrap, and the first process inside
_NAME = "siding"


class Delegation(NamedTuple):
    """The directory in which groups can be made; None, and the reason, where there is none."""

    place: Path | None
    reason: str = ""


class RunGroup:
    """The control group of one run. Close it when the run has ended."""

    def __init__(self, path: Path, limits: Limits) -> None:
        """Make the group. Raises OSError."""
        self.path = path
        self._limits = limits
        path.mkdir()
        try:
            self._set_limits()
            self._procs = os.open(path / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            path.rmdir()
            raise

    def enter(self) -> None:
        """Move this process into the group; called in the child before exec.

        Without it the samples still keep the limits, so a failure does not stop the run.
        """
        with suppress(OSError):
            os.write(self._procs, b"0")

    def breach(self) -> Breach | None:
        """Return the limit at which the kernel killed or refused a process of the run."""
        if (allowed := self._limits.memory) is not None and self._count("memory", "oom_kill"):
            return Breach(what="memory", allowed=allowed, seen=allowed, by_kernel=True)
        if (allowed := self._limits.processes) is not None and self._count("pids", "max"):
            return Breach(what="processes", allowed=allowed, seen=allowed, by_kernel=True)
        return None

    def close(self) -> None:
        """Remove the group. One that still has processes is removed by a later run."""
        os.close(self._procs)
        with suppress(OSError):
            self.path.rmdir()

    def _set_limits(self) -> None:
        if self._limits.memory is not None:
            _write(self.path / "memory.max", self._limits.memory)
            with suppress(FileNotFoundError):  # a kernel that does not count swap
                _write(self.path / "memory.swap.max", 0)
        if self._limits.processes is not None:
            _write(self.path / "pids.max", self._limits.processes * _THREADS + _OURS)

    def _count(self, controller: str, event: str) -> int:
        for line in _read(self.path / f"{controller}.events").splitlines():
            name, _space, count = line.partition(" ")
            if name == event:
                return int(count)
        return 0


def make_group(limits: Limits, delegation: Delegation) -> RunGroup | None:
    """Return a group with the limits; None where there is none to set, or no place for a group."""
    if delegation.place is None or (limits.memory is None and limits.processes is None):
        return None
    _remove_abandoned(delegation.place)
    name = f"{_NAME}-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        return RunGroup(delegation.place / name, limits)
    except OSError:
        return None


def delegation_here() -> Delegation:
    """Return where this process may make groups."""
    own = _read(Path("/proc/self/cgroup"))
    return find_delegation(_read(Path("/proc/self/mountinfo")), own, os.geteuid(), _is_marked)


def find_delegation(
    mounts: str, own: str, uid: int, is_marked: Callable[[Path], bool]
) -> Delegation:
    """Find the nearest directory, from our own group upwards, in which a group can be made.

    `mounts` and `own` are the texts of /proc/self/mountinfo and /proc/self/cgroup. `is_marked`
    tells whether systemd marked a directory as delegated. Only root needs that: it can write
    everywhere, also where systemd allows nobody else.
    """
    chain = list(_groups_above(mounts, own))
    if not chain:
        return Delegation(None, "no tree of cgroup v2 with this process in it")
    reason = "no controllers of memory and processes for groups below ours"
    for number, directory in enumerate(chain):
        if not CONTROLLERS.issubset(_read(directory / "cgroup.subtree_control").split()):
            continue
        writable = os.access(directory, os.W_OK | os.X_OK)
        if not writable or not os.access(directory / "cgroup.procs", os.W_OK):
            reason = "no part of the tree with controllers is writable"
        elif uid == 0 and not any(map(is_marked, chain[number:])):
            reason = "no part of the tree was delegated to root"
        else:
            return Delegation(directory)
    return Delegation(None, reason)


def _groups_above(mounts: str, own: str) -> Iterator[Path]:
    """Yield the directory of our group and those above it, as far as they are mounted."""
    ours = next((line[3:] for line in own.splitlines() if line.startswith("0::/")), None)
    for line in mounts.splitlines():
        fields, _dash, kind = line.partition(" - ")
        if ours is None or not kind.startswith("cgroup2 "):
            continue
        root, point = fields.split()[3:5]
        group = PurePosixPath(ours)
        if ".." in group.parts or not group.is_relative_to(root):
            continue
        below = group.relative_to(root)
        yield from (Path(point, each) for each in (below, *below.parents))
        return


def _is_marked(directory: Path) -> bool:
    for name in ("user.delegate", "trusted.delegate"):
        with suppress(OSError):
            if os.getxattr(directory, name) == b"1":
                return True
    return False


def _remove_abandoned(place: Path) -> None:
    """Remove empty groups of Siding processes that are gone; the kernel keeps those in use."""
    for group in place.glob(f"{_NAME}-*-*"):
        with suppress(OSError, ValueError):
            if not Path("/proc", str(int(group.name.split("-")[1]))).exists():
                group.rmdir()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _write(path: Path, value: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, str(value).encode("ascii"))
    finally:
        os.close(fd)
