"""A view as arguments of bubblewrap. Pure.

What is not an option of ours: `--new-session`. It would take the terminal away. Instead the command
becomes leader of a session inside (`setsid`), with its terminal if it has one: so signals of the
terminal reach it, and not bwrap, whose end would kill it at once. Typing into a terminal is closed
by the filter.
"""

from collections.abc import Mapping

from siding.process.sandbox.values import Kind, Launch, Mount, Network

NOBODY = "65534"
# Root owns the kernel's knobs, and owning is enough to write them, in whatever namespace and
# without any capability. (An ordinary user may not; and there an open proc lets sandboxes nest.)
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
    ``copies`` are descriptors of what is copied, by path inside.
    """
    argv = [launch.bwrap]
    if launch.userns:
        argv.append("--unshare-user")
    argv += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if launch.network is not Network.ON:
        argv.append("--unshare-net")
    # Root keeps every capability in bwrap unless told otherwise. Inside it is nobody: then a
    # sandbox of the agent's own can be set up, which the kernel denies a root without them.
    argv += ["--die-with-parent", "--cap-drop", "ALL"]
    if launch.nobody and launch.userns:
        argv += ["--uid", NOBODY, "--gid", NOBODY]
    argv += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    if launch.nobody:
        argv += _KERNEL
    for mount in launch.view.mounts:
        if mount.kind is Kind.EMPTY and launch.room is not None:
            argv += ["--size", str(launch.room)]
        argv += _mount(mount, copies)
    for mount in launch.view.mounts:
        if mount.kind is Kind.BLANK:
            argv += ["--remount-ro", mount.path]
    argv += ["--chdir", cwd, "--json-status-fd", str(status_fd)]
    if seccomp_fd is not None:
        argv += ["--seccomp", str(seccomp_fd)]
    return [*argv, "--"]


def _mount(mount: Mount, copies: Mapping[str, int]) -> list[str]:
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
                return []  # it went away since the plan was made
            return ["--perms", "0600", "--file", str(copies[mount.path]), mount.path]
        case Kind.LINK:
            return ["--symlink", mount.source, mount.path]
        case Kind.MASK:
            return ["--ro-bind-try", "/dev/null", mount.path]
