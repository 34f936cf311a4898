"""Writing, replacing, moving and removing files so that a power cut undoes nothing of it."""

import errno
import fcntl
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from siding.ground.files.regular import open_regular, read_bytes
from siding.ground.hashing import sha256_hex

TEMPORARY_PREFIX = ".siding-tmp."

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}


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


def flush_names(directory: int) -> None:
    """Flush the names in an open directory."""
    flush(directory)


def flush_dir(path: Path) -> None:
    """Flush the names in a directory."""
    fd = os.open(path, _DIRECTORY)
    try:
        flush_names(fd)
    finally:
        os.close(fd)


def flush_file(path: Path) -> None:
    """Flush what a regular file holds, which somebody else has written."""
    fd = open_regular(path)
    try:
        flush(fd)
    finally:
        os.close(fd)


def flush_tree(root: Path) -> None:
    """Flush every regular file and directory below `root`, and `root`.

    Where a file or directory cannot be opened, everything of the system is flushed.
    """
    try:
        _flush_below(root)
    except PermissionError:
        os.sync()


def _flush_below(root: Path) -> None:
    def fail(error: OSError) -> None:
        raise error

    for directory, _, names in os.walk(root, onerror=fail):
        for name in names:
            path = Path(directory, name)
            if path.is_file() and not path.is_symlink():
                flush_file(path)
        flush_dir(Path(directory))


@contextmanager
def _temporary(directory: int, data: bytes, mode: int) -> Iterator[str]:
    """Write and flush a new file in the directory, and yield its name.

    It stays locked while it is open, so that `stale.py` knows that its writer lives. When the
    block fails the file is taken away again.
    """
    name = f"{TEMPORARY_PREFIX}{os.getpid()}.{os.urandom(8).hex()}"
    fd = os.open(name, _CREATE, mode, dir_fd=directory)
    with _filled(fd, data, name, directory, locked=True):
        yield name


@contextmanager
def _filled(
    fd: int, data: bytes, name: str | Path, directory: int | None = None, *, locked: bool = False
) -> Iterator[None]:
    """Write and flush an open file; take its name away when that or the block fails."""
    try:
        if locked:
            fcntl.flock(fd, fcntl.LOCK_EX)
        write_all(fd, data)
        flush(fd)
        yield
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
        flush_names(directory)
    finally:
        os.close(directory)


def replace_by_lock(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replace a file in a git directory as git itself does: ``<name>.lock`` is renamed.

    For the only writer of the file, the holder of a lock of what the file belongs to. The name is
    always the same, so that what a killed writer left is written over: nobody sweeps a git
    directory, and git reads any other name below ``refs`` as a ref.
    """
    write_and_rename(path.with_name(path.name + ".lock"), path, data, mode=mode)
    flush_dir(path.parent)


def write_and_rename(temporary: Path, path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replace a file by way of `temporary`, a name of the only writer's choice beside it.

    What has that name is written over. The directory is not flushed yet: the caller does so, once
    for all the files that it writes there.
    """
    fd = open_regular(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with _filled(fd, data, temporary):
        os.rename(temporary, path)


def create_bytes(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Make a new file, whole or not at all; raises FileExistsError when the name is taken."""
    directory = os.open(path.parent, _DIRECTORY)
    try:
        with _temporary(directory, data, mode) as name:
            _rename_to_free_name(name, path.name, directory, directory)
        flush_names(directory)
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
        flush_names(target_dir)  # before the old name goes: a power cut must leave one of the two
    os.unlink(source, dir_fd=source_dir)


def make_dirs(path: Path) -> None:
    """Make the directory and its missing parents, each 0700 and flushed into its parent.

    Levels are made top down and each is flushed before the next, so of the levels found here only
    the deepest can have been left unflushed by a killed process. It is flushed again, unless there
    is something in it: whoever made that had it flushed before.
    """
    missing: list[Path] = []
    level = path
    while not os.path.lexists(level):
        missing.append(level)
        level = level.parent
    if not level.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(level))
    if level.parent != level and not _is_used_by_us(level):
        with suppress(PermissionError):  # a parent we cannot read is not one we made it in
            flush_dir(level.parent)
    for level in reversed(missing):
        with suppress(FileExistsError):  # another process was faster
            level.mkdir(0o700)
        flush_dir(level.parent)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))


def _is_used_by_us(directory: Path) -> bool:
    """Tell whether something is in a directory that looks as if it was made here.

    Others may put something into a directory of theirs before it is flushed.
    """
    status = os.stat(directory)
    if stat.S_IMODE(status.st_mode) != 0o700 or status.st_uid != os.geteuid():
        return False
    with os.scandir(directory) as entries:
        return next(entries, None) is not None


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
            flush_names(target_dir)  # first: a power cut may leave two names, never none
            if source.parent != target.parent:
                flush_names(source_dir)
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
        flush_names(directory)  # also when it was gone: who removed it may not have come this far
    finally:
        os.close(directory)
