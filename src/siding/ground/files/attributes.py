"""What the system says of a file besides its mode: flags, mount, writers, owners.

Linux's `statx(2)` tells of flags that forbid moving a file, without opening it, `proc(5)` where a
directory is mounted and from what kind of file system, and a lease (`fcntl(2)`) whether a file is
open for writing anywhere. Elsewhere nothing of this is known.
"""

import fcntl
import os
import signal
import stat
import struct
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.namedtuples import NamedTuple

_AT_FDCWD, _NO_FOLLOW = -100, 0x100
_MOUNT_ID = 0x1000  # STATX_MNT_ID, since Linux 5.8
_IMMUTABLE, _APPEND, _MOUNT_ROOT = 0x10, 0x20, 0x2000
_SIZE, _ATTRIBUTES_AT, _MOUNT_AT = 256, 8, 0x90
# Kinds of file systems without RENAME_EXCHANGE in Linux 6. Of those in user space (FUSE) it is not
# known before it is tried.
CANNOT_EXCHANGE = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "9p", "exfat", "msdos", "ntfs3", "hfsplus", "afs", "ceph")
)
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class Attributes(NamedTuple):
    """Flags of a file or directory, and the number of the mount that it is on; 0 is unknown."""

    immutable: bool = False
    append_only: bool = False
    is_mount: bool = False
    mount: int = 0


def attributes_of(path: bytes) -> Attributes:
    """Return the attributes of what is at a path, a link itself; all unset if nothing is known."""
    call = _call()
    if call is None:
        return Attributes()
    import ctypes  # not loaded for what has no use for flags

    buffer = ctypes.create_string_buffer(_SIZE)
    if call(_AT_FDCWD, path, _NO_FOLLOW, _MOUNT_ID, buffer) != 0:
        return Attributes()
    (mask,) = struct.unpack_from("=I", buffer.raw, 0)
    (flags,) = struct.unpack_from("=Q", buffer.raw, _ATTRIBUTES_AT)
    (mount,) = struct.unpack_from("=Q", buffer.raw, _MOUNT_AT)
    return Attributes(
        immutable=bool(flags & _IMMUTABLE),
        append_only=bool(flags & _APPEND),
        is_mount=bool(flags & _MOUNT_ROOT),
        mount=mount if mask & _MOUNT_ID else 0,
    )


@cache
def _call() -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    found = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    if found is None:  # a C library without it
        return None
    integer = ctypes.c_int
    found.argtypes = (integer, ctypes.c_char_p, integer, ctypes.c_uint, ctypes.c_void_p)
    return found  # type: ignore[no-any-return]


def is_read_only(path: bytes) -> bool:
    """Tell whether a path is on a file system that is mounted read-only."""
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


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


def has_writer(fd: int) -> bool | None:
    """Tell whether a process can still store into a regular file that is open for reading here.

    That is one that has it open for writing, under whichever name, or mapped so (overlayfs does
    not know of mappings). None if this cannot be known: leases exist on Linux only, and only for
    files of one's own.
    """
    if sys.platform != "linux":
        return None
    try:
        # A process that opens the file for writing just now sends us a signal. That of leases
        # would end us; this one is ignored.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return None
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def only_root_writes(name: str) -> bool:
    """Tell whether a file and all directories above it belong to root, and nobody else writes them.

    Where a link leads counts as well. What is not there is not told: False.
    """
    try:
        real = os.path.realpath(name, strict=True)
        paths = {Path(name), *Path(name).parents, Path(real), *Path(real).parents}
        found = [os.stat(path) for path in paths]
    except OSError:
        return False
    return all(each.st_uid == 0 and not each.st_mode & _OTHERS for each in found)
