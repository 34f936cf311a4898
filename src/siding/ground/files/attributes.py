"""What the kernel says of a file besides its mode: flags that forbid moving it, and its mount.

Linux's `statx(2)` tells it without opening the file. Elsewhere nothing is known.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from functools import cache

from siding.ground.namedtuples import NamedTuple

_AT_FDCWD, _NO_FOLLOW = -100, 0x100
_MOUNT_ID = 0x1000  # STATX_MNT_ID, since Linux 5.8
_IMMUTABLE, _APPEND, _MOUNT_ROOT = 0x10, 0x20, 0x2000
_SIZE, _ATTRIBUTES_AT, _MOUNT_AT = 256, 8, 0x90


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
    found = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    if found is None:  # a C library without it
        return None
    integer = ctypes.c_int
    found.argtypes = (integer, ctypes.c_char_p, integer, ctypes.c_uint, ctypes.c_void_p)
    return found  # type: ignore[no-any-return]


def is_read_only(path: bytes) -> bool:
    """Tell whether a path is on a file system that is mounted read-only."""
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
