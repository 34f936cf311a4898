"""A control group (cgroup v2) of a sandboxed run's own, where the machine delegates them.

The kernel then keeps the limits on memory and processes, also between two samples of
`ground.process.limits`. A group can be made without privileges in a directory of the tree that was
delegated to this user and whose controllers are enabled for groups below it; under systemd that is
the case below a user's own service manager. Nothing is enabled, and only the run is moved.

The run leaves the group that Siding is in. A limit which somebody set on that group would not hold
for it there, so a group with a limit of its own is not left, and samples alone keep the run's.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.limits import Breach, Limits

CONTROLLERS = frozenset({"memory", "pids"})
_THREADS = 32  # pids.max counts threads, the limit counts processes: so many threads for each
_OURS = 2  # bwrap, and the first process inside
# systemd sets pids.max on every group, so that one is no reason to stay: the run's group takes it
# over. The others hold for all processes of a group together, also for those that leave nothing.
_KEPT_BY_STAYING = ("memory.max", "memory.high", "memory.swap.max", "cpu.max", "cpuset.cpus")
_NAME = "siding"


class Delegation(NamedTuple):
    """The directory in which groups can be made; None, and the reason, where there is none.

    `pids` is the least `pids.max` of the groups that a run leaves for it; None is no limit.
    """

    place: Path | None
    reason: str = ""
    pids: int | None = None


class RunGroup:
    """The control group of one run. Close it when the run has ended."""

    def __init__(self, path: Path, limits: Limits, pids: int | None = None) -> None:
        """Make the group; `pids` are the most processes and threads in it. Raises OSError."""
        self.path = path
        self._limits = limits
        self._pids = _pids_max(limits.processes, pids)
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
        """Return the limit at which the kernel killed or refused a process of the run.

        Where the kernel did so because the whole machine, or a group above, has no more, it is no
        limit of the run.
        """
        if (allowed := self._limits.memory) is not None and self._was_short_of_memory():
            return Breach(what="memory", allowed=allowed, seen=allowed, by_kernel=True)
        if (allowed := self._limits.processes) is not None and self._was_full():
            seen = self._pids or allowed
            return Breach(what="processes", allowed=allowed, seen=seen, by_kernel=True)
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
        if self._pids is not None:
            _write(self.path / "pids.max", self._pids)

    def _was_short_of_memory(self) -> bool:
        # oom_kill counts processes killed for anybody's sake, oom only that this group was full.
        return self._count("memory", "oom_kill") > 0 and self._count("memory", "oom") > 0

    def _was_full(self) -> bool:
        # Before Linux 6.11 max also counts what was refused for the sake of a group above ours.
        # pids.peak tells these apart; it is there from Linux 6.1 on.
        peak = _read(self.path / "pids.peak").strip()
        reached = not peak.isdecimal() or self._pids is None or int(peak) >= self._pids
        return reached and self._count("pids", "max") > 0

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
        return RunGroup(delegation.place / name, limits, delegation.pids)
    except OSError:
        return None


def delegation_here() -> Delegation:
    """Return where this process may make groups."""
    mounts = _read(Path("/proc/self/mountinfo"))
    return find_delegation(mounts, own_groups(), os.geteuid(), _is_marked)


def own_groups() -> str:
    """Return the groups that this process is in, as /proc has them; "" where there are none."""
    return _read(Path("/proc/self/cgroup"))


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
            return _unless_limited(directory, chain[:number])
    return Delegation(None, reason)


def _unless_limited(place: Path, left: list[Path]) -> Delegation:
    """Return the place, unless a group that a run would leave for it has a limit of its own."""
    for group in left:
        for name in _KEPT_BY_STAYING:
            if _is_limit(_read(group / name)):
                return Delegation(
                    None,
                    f"{group.name} has a limit of its own ({name}), which a run must not leave",
                )
    numbers = (_read(group / "pids.max").strip() for group in left)
    return Delegation(place, pids=min(map(int, filter(str.isdecimal, numbers)), default=None))


def _is_limit(said: str) -> bool:
    """Return whether the text of a control file sets a limit; "max 100000" of cpu.max does not."""
    return bool(said.strip()) and not said.startswith("max")


def _pids_max(processes: int | None, inherited: int | None) -> int | None:
    own = None if processes is None else processes * _THREADS + _OURS
    return min((each for each in (own, inherited) if each is not None), default=None)


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
