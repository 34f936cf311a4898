"""The few file operations everything else is built from.

Rules (FORMAT.md has the reasons):

- Only regular files are read or written, and no final symbolic link is followed: a pipe or a link
  to a device that stands in a file's place is an error, never a hang.
- A function that changes something returns after it would survive a power cut: the bytes are
  flushed, and so is every directory in which a name changed.
- On an error the old state stays and nothing of ours is left lying about.
"""

import errno
import fcntl
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from siding.hashing import sha256_hex
from siding.storage.errors import FileTooLarge, NotARegularFile

DEFAULT_LIMIT = 64 * 1024 * 1024
TEMPORARY_PREFIX = ".siding-tmp."

_ALWAYS = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# What open() says of a link (ELOOP, FreeBSD: EMLINK), a directory, a pipe or socket, a dead device.
_NOT_REGULAR = {errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO, errno.ENODEV}
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Return a descriptor of a regular file; never blocks, never follows a final link."""
    return open_with_stat(path, flags, mode)[0]


def open_with_stat(
    path: Path, flags: int = os.O_RDONLY, mode: int = 0o600
) -> tuple[int, os.stat_result]:
    """Return what `open_regular` does, and the file's status as it was then."""
    try:
        fd = os.open(path, flags | _ALWAYS, mode)
    except OSError as error:
        if error.errno in _NOT_REGULAR:
            raise NotARegularFile(path) from error
        raise
    try:
        status = os.fstat(fd)
    except BaseException:
        os.close(fd)
        raise
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise NotARegularFile(path)
    return fd, status


def read_bytes(path: Path, *, limit: int = DEFAULT_LIMIT) -> bytes:
    """Return the whole file, of at most `limit` bytes; a larger one raises `FileTooLarge`."""
    fd, status = open_with_stat(path)
    try:
        if status.st_size > limit:
            raise FileTooLarge(path, limit)
        # One byte more than expected, so that the end shows without a second round.
        chunks: list[bytes] = []
        size = 0
        while chunk := os.read(fd, max(status.st_size - size, 0) + 1):
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                raise FileTooLarge(path, limit)
        return b"".join(chunks)
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """Write every byte, however many calls the kernel makes of it."""
    written = os.write(fd, data)
    while written < len(data):
        count = os.write(fd, memoryview(data)[written:])
        if count == 0:  # no error and no progress: do not spin
            raise OSError(errno.EIO, "a write made no progress")
        written += count


def flush(fd: int) -> None:
    """Return when the file's bytes are on the medium. A failure means: they may be gone."""
    if sys.platform == "darwin":
        # There fsync() only reaches the drive's cache.
        with suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
    os.fsync(fd)


def fsync_dir(path: Path) -> None:
    """Flush the names in a directory."""
    fd = os.open(path, _DIRECTORY)
    try:
        _flush_names(fd)
    finally:
        os.close(fd)


def _flush_names(directory: int) -> None:
    flush(directory)


@contextmanager
def _temporary(directory: int, data: bytes, mode: int) -> Iterator[str]:
    """Write and flush a new file in the directory, and yield its name.

    It stays locked while it is open, so that `remove_stale_temporaries` knows that its writer
    lives. When the block fails the file is taken away again.
    """
    name = f"{TEMPORARY_PREFIX}{os.getpid()}.{os.urandom(8).hex()}"
    fd = os.open(name, _CREATE, mode, dir_fd=directory)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        write_all(fd, data)
        flush(fd)
        yield name
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=directory)
        raise
    finally:
        os.close(fd)


def replace_bytes(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Make the file hold exactly `data`: whoever looks, whenever, sees the old or the new whole.

    The name is replaced, not what it points to: a link in the file's place is not followed.
    """
    directory = os.open(path.parent, _DIRECTORY)
    try:
        with _temporary(directory, data, mode) as name:
            os.rename(name, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        _flush_names(directory)
    finally:
        os.close(directory)


def create_bytes(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Make a new file, whole or not at all; raises FileExistsError when the name is taken."""
    directory = os.open(path.parent, _DIRECTORY)
    try:
        with _temporary(directory, data, mode) as name:
            _rename_to_free_name(name, path.name, directory, directory)
        _flush_names(directory)
    finally:
        os.close(directory)


def _rename_to_free_name(source: str, target: str, source_dir: int, target_dir: int) -> None:
    """Rename a file; raise FileExistsError instead of replacing another one.

    POSIX has no such call: a second link is made, which fails when the name is taken, and then the
    first one goes. Cut off between the two, the same call finishes the work.
    """
    try:
        os.link(source, target, src_dir_fd=source_dir, dst_dir_fd=target_dir, follow_symlinks=False)
    except FileExistsError:
        ours = os.stat(source, dir_fd=source_dir, follow_symlinks=False)
        theirs = os.stat(target, dir_fd=target_dir, follow_symlinks=False)
        if not os.path.samestat(ours, theirs):
            raise
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        with suppress(FileNotFoundError):
            os.stat(target, dir_fd=target_dir, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from error
        os.rename(source, target, src_dir_fd=source_dir, dst_dir_fd=target_dir)
        return
    if source_dir != target_dir:
        _flush_names(target_dir)  # before the old name goes: a power cut must leave one of the two
    os.unlink(source, dir_fd=source_dir)


def make_dirs(path: Path) -> None:
    """Make the directory and its missing parents, each 0700 and flushed into its parent.

    Levels are made top down and each is flushed before the next, so of the levels found here only
    the deepest can have been left unflushed by a killed process; it is flushed again.
    """
    missing: list[Path] = []
    level = path
    while not os.path.lexists(level):
        missing.append(level)
        level = level.parent
    if not level.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(level))
    if level.parent != level:
        with suppress(PermissionError):  # a parent we cannot read is not one we made it in
            fsync_dir(level.parent)
    for level in reversed(missing):
        with suppress(FileExistsError):  # another process was faster
            level.mkdir(0o700)
        fsync_dir(level.parent)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))


def move_aside(source: Path, target: Path) -> None:
    """Give a file, link or directory another name on the same file system.

    Raises FileExistsError when the new name is taken, and OSError (EXDEV) for another file system:
    nothing is ever copied or replaced here.
    """
    source_dir = os.open(source.parent, _DIRECTORY)
    try:
        target_dir = os.open(target.parent, _DIRECTORY)
        try:
            if stat.S_ISDIR(os.lstat(source).st_mode):
                _rename_directory(source, target, source_dir, target_dir)
            else:
                _rename_to_free_name(source.name, target.name, source_dir, target_dir)
            _flush_names(target_dir)  # first: a power cut may leave two names, never none
            if source.parent != target.parent:
                _flush_names(source_dir)
        finally:
            os.close(target_dir)
    finally:
        os.close(source_dir)


def _rename_directory(source: Path, target: Path, source_dir: int, target_dir: int) -> None:
    # rename() itself refuses anything but an empty directory, so a race can replace only nothing.
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    os.rename(source.name, target.name, src_dir_fd=source_dir, dst_dir_fd=target_dir)


def copy_aside(path: Path, word: str) -> Path:
    """Copy a file's bytes to ``<name>.<word>-<hash>`` beside it and return that path; durable.

    The hash is of the bytes, so a repeated call makes no second copy.
    """
    raw = read_bytes(path, limit=1 << 30)
    target = path.with_name(f"{path.name}.{word}-{sha256_hex(raw)[:12]}")
    with suppress(FileExistsError):
        create_bytes(target, raw)
    return target


def remove_file(path: Path) -> None:
    """Take the name away for good; one that is not there is fine."""
    try:
        directory = os.open(path.parent, _DIRECTORY)
    except FileNotFoundError:
        return
    try:
        with suppress(FileNotFoundError):
            os.unlink(path.name, dir_fd=directory)
        _flush_names(directory)  # also when it was gone: who removed it may not have come this far
    finally:
        os.close(directory)


def remove_stale_temporaries(directory: Path) -> list[Path]:
    """Remove temporary files whose writers are dead, and return them.

    A writer lives when its process does or when the file is still locked (its number may mean
    nothing here: another container).
    """
    try:
        names = sorted(os.listdir(directory))
    except FileNotFoundError:
        return []
    ours = [directory / name for name in names if name.startswith(TEMPORARY_PREFIX)]
    return [path for path in ours if _remove_if_stale(path)]


def _remove_if_stale(path: Path) -> bool:
    pid = path.name.removeprefix(TEMPORARY_PREFIX).partition(".")[0]
    if not (pid.isascii() and pid.isdigit()) or _is_alive(int(pid)):
        return False
    try:
        fd = open_regular(path)
    except (OSError, NotARegularFile):
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
