"""Where a directory is mounted, and from what kind of file system (Linux: `proc(5)`)."""

import os
from pathlib import Path

from siding.ground.files.regular import read_small

# Kinds of file systems without RENAME_EXCHANGE in Linux 6. Of those in user space (FUSE) it is not
# known before it is tried.
CANNOT_EXCHANGE = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "9p", "exfat", "msdos", "ntfs3", "hfsplus", "afs", "ceph")
)


def mount_of(path: Path) -> str:
    """Return the number of the mount that a directory is on; "" where this is not known."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        told = read_small(Path(f"/proc/self/fdinfo/{fd}")) or b""
    finally:
        os.close(fd)
    lines = told.decode("ascii", "replace").splitlines()
    return next((line.split()[1] for line in lines if line.startswith("mnt_id:")), "")


def file_system_of(path: Path) -> str:
    """Return the kind of file system of a directory, such as ``ext4``; "" if it is not known."""
    number = mount_of(path)
    told = read_small(Path("/proc/self/mountinfo")) or b""
    for line in told.decode("utf-8", "surrogateescape").splitlines():
        about, _, source = line.partition(" - ")
        if about.split(" ", 1)[0] == number:
            return source.split(" ", 1)[0]
    return ""
