"""Writes that are still there after a power cut: data first, then the name that points at it."""

import os
from pathlib import Path


def sync_directory(path: Path) -> None:
    """Flush the names in a directory."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_directories(path: Path) -> None:
    """Make the directory and those above it (0700); each new name is flushed."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for level in reversed(missing):
        level.mkdir(mode=0o700, exist_ok=True)
        sync_directory(level.parent)


def replace_file(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Put the data at `path` at once and durably; on an error the old file stands.

    The caller is the only writer of this path (it holds the lock of what the file belongs to),
    so that a temporary file left by a dead writer may be written over.
    """
    write_and_rename(path.with_name(path.name + ".lock"), path, data, mode=mode)
    sync_directory(path.parent)


def write_and_rename(temporary: Path, path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write, flush and rename; the directory is not flushed yet."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(temporary, flags, mode)
    try:
        write_all(fd, data)
        os.fsync(fd)
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)


def sync_file(path: Path) -> None:
    """Flush what a regular file holds."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_tree(root: Path) -> None:
    """Flush every file and directory below `root`, and `root`."""
    for directory, _, names in os.walk(root):
        for name in names:
            path = Path(directory, name)
            if path.is_file() and not path.is_symlink():
                sync_file(path)
        sync_directory(Path(directory))


def write_all(fd: int, data: bytes) -> None:
    """Write every byte, however few the system takes at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def read_small(path: Path, limit: int = 1 << 20) -> bytes | None:
    """Return the bytes of a regular file (at most `limit`), None when there is none such.

    Never waits on a pipe and never follows a last link: what lies in a `.git` may be anything.
    """
    import stat

    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        parts = []
        while limit > 0 and (part := os.read(fd, min(limit, 1 << 20))):
            parts.append(part)
            limit -= len(part)
        return b"".join(parts)
    finally:
        os.close(fd)
