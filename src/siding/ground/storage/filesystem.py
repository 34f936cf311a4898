"""Recognise file systems on which this package cannot keep its promises.

On a network or user-space file system a lock may hold on one machine only, or not at all, and a
flush may return before anything is stored. They are recognised on Linux only.
"""

import os
from pathlib import Path

from siding.ground.namedtuples import NamedTuple

_NETWORK = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs2", "glusterfs", "gpfs", "lustre"}
    | {"ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "prl_fs", "smb3", "smbfs", "vboxsf"}
)


class Mount(NamedTuple):
    """The directory where a file system is mounted, and its kind ("ext4", "nfs4", "fuse.sshfs")."""

    point: str
    kind: str


def unsupported_reason(path: Path, *, table: Path = Path("/proc/self/mountinfo")) -> str | None:
    """Return a sentence why no data should be kept at `path`; None when it may be.

    `path` need not exist yet.
    """
    try:
        text = table.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    mount = mount_of(os.path.realpath(path), text)
    if mount is None:
        return None
    if mount.kind in _NETWORK:
        why = "a network file system does not keep locks and flushes reliably"
    elif mount.kind.startswith("fuse"):
        why = "a user-space file system need not keep locks and flushes"
    else:
        return None
    return f"{str(path)!r} is on {mount.kind} (mounted at {mount.point!r}): {why}"


def mount_of(path: str, mountinfo: str) -> Mount | None:
    """Return the mount that holds an absolute path without links; see mountinfo in proc(5)."""
    found: Mount | None = None
    for line in mountinfo.splitlines():
        front, separator, back = line.partition(" - ")
        fields = front.split(" ")
        if not separator or len(fields) < 5:
            continue
        point = _unescape(fields[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        # The longest mount point wins. Of two at the same place, the later one hides the other.
        if inside and (found is None or len(point) >= len(found.point)):
            found = Mount(point=point, kind=back.split(" ")[0])
    return found


def _unescape(field: str) -> str:
    """Decode the octal escapes that the kernel writes for space, tab, newline and backslash."""
    for code, character in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        field = field.replace(code, character)
    return field
