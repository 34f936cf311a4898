"""Copy files byte for byte into a workspace; file systems that can do so share their blocks."""

import errno
import fcntl
import os
import stat

from siding.ground.files.durable import write_all

FICLONE = 0x40049409  # from linux/fs.h: let one file share the blocks of another
# Each of these means that blocks cannot be shared here; which one depends on the file system.
_NO_REFLINK = {
    errno.EOPNOTSUPP,
    errno.ENOTTY,
    errno.EXDEV,
    errno.EINVAL,
    errno.ENOSYS,
    errno.EPERM,
    errno.ETXTBSY,
}


def copy_entry(source: bytes, target: bytes) -> bool:
    """Copy a file or symbolic link with its mode and times; return False for anything else.

    Parent directories of `target` are made, and an existing file is replaced. Raises
    IsADirectoryError if `target` is a directory.
    """
    found = os.lstat(source)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if stat.S_ISLNK(found.st_mode):
        _unlink(target)
        os.symlink(os.readlink(source), target)
        return True
    if not stat.S_ISREG(found.st_mode):
        return False
    _unlink(target)
    _copy_file(source, target, stat.S_IMODE(found.st_mode))
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
    return True


def _copy_file(source: bytes, target: bytes, mode: int) -> None:
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        writing = os.open(target, flags, 0o600)
        try:
            if not _reflinked(reading, writing):
                _copy_bytes(reading, writing)
            os.fchmod(writing, mode)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _reflinked(reading: int, writing: int) -> bool:
    try:
        fcntl.ioctl(writing, FICLONE, reading)
    except OSError as error:
        if error.errno in _NO_REFLINK:
            return False
        raise
    return True


def _copy_bytes(reading: int, writing: int) -> None:
    while block := os.read(reading, 1 << 20):
        write_all(writing, block)


def _unlink(path: bytes) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
