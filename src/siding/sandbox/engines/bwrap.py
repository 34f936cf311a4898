"""Turn a view into arguments of bubblewrap. Pure.

We do not use `--new-session`, which would take the terminal away. Instead the command becomes
leader of a session inside the sandbox (`setsid`), with its terminal if it has one. So signals of
the terminal reach the command and not bwrap, whose end would kill the command at once. The system
call filter keeps the command from typing into a terminal (TIOCSTI), which `--new-session` is for.
"""

from collections.abc import Mapping

from siding.sandbox.engines.values import BindMount, Kind, Launch, Network

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
    argv = [launch.bwrap]
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
