"""Reading a whole file that was opened by `paths`, and replacing it without losing anything."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from siding.assistant.tools.files.paths import Opened, PathRefused
from siding.ground.files.attributes import has_writer
from siding.ground.files.durable import TEMPORARY_PREFIX, flush, write_all
from siding.ground.files.exchange import Entry, put, rename_new
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple

MOST_EDITED = 64 << 20  # bytes of a file that can be edited
_PART = 1 << 20
_MODES = 0o7777


class Content(NamedTuple):
    """A whole file, and its status when it was read."""

    data: bytes
    status: os.stat_result


def load(opened: Opened, given: str, most: int = MOST_EDITED) -> Content:
    """Return what a file holds. Raises PathRefused, and OSError if there is none."""
    fd = open_file(opened, given)
    try:
        status = os.fstat(fd)
        if status.st_size > most:
            raise PathRefused(f"{given} is too large for this: {status.st_size:,} bytes.")
        return Content(_all_of(fd, most, given), status)
    finally:
        os.close(fd)


def open_file(opened: Opened, given: str) -> int:
    """Open a regular file for reading. Raises PathRefused for anything else, and OSError."""
    try:
        fd = opened.open(os.O_RDONLY)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise PathRefused(f"{given} is a socket, not a file.") from error
        raise
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise PathRefused(
            f"{given} is a directory. Use Glob, or `ls` in Bash, to see what is in it."
        )
    raise PathRefused(f"{given} is a pipe or a device, not a file.")


def _all_of(fd: int, most: int, given: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := os.read(fd, _PART):
        parts.append(part)
        size += len(part)
        if size > most:
            raise PathRefused(f"{given} is growing; more than {most:,} bytes were not read.")
    return b"".join(parts)


def create(opened: Opened, data: bytes) -> os.stat_result:
    """Make a new file. Raises FileExistsError if there is one by now."""
    name = _temporary(opened, data, None)
    try:
        rename_new(name, opened.entry)
    except BaseException:
        _remove(name)
        raise
    return _status(opened)


def replace(opened: Opened, given: str, data: bytes, before: Content) -> os.stat_result:
    """Put `data` into the place of a file that held `before`; mode and owner stay.

    The names of both are exchanged in one step, and then it is looked whether the old file is still
    what it was: if another program wrote it meanwhile, it is put back. Raises PathRefused then.
    """
    new = _temporary(opened, data, before.status)
    try:
        found = put(new, opened.entry)
    except BaseException:
        _remove(new)
        raise
    if not found:  # it was deleted meanwhile, and is there again
        return _status(opened)
    old = _displaced(new)
    problem = _problem(old, before.data)
    if problem:
        kept = _put_back(opened, old, data)
        raise PathRefused(f"{given} was not changed: {problem}{kept}")
    _remove(old)
    return _status(opened)


def _problem(old: Entry, expected: bytes) -> str:
    try:
        fd = os.open(old.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=old.directory)
    except OSError as error:
        return f"another program put something else in its place ({error.strerror})."
    try:
        if has_writer(fd):
            return "a program has it open for writing. End that program, or wait for it."
        size = os.fstat(fd).st_size
        if size != len(expected) or _whole(fd, size) != expected:
            return "another program wrote it in this very moment. Read it again."
        return ""
    except OSError as error:
        return f"it cannot be read any more ({error.strerror})."
    finally:
        os.close(fd)


def _whole(fd: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size >= 0 and (part := os.read(fd, _PART)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _put_back(opened: Opened, old: Entry, ours: bytes) -> str:
    """Exchange the names again; what is in our place by then is removed only if it is ours."""
    put(old, opened.entry)
    aside = _displaced(old)
    if not _problem(aside, ours):
        _remove(aside)
        return ""
    name = opened.entry.name + b".kept-" + os.urandom(3).hex().encode()
    rename_new(aside, Entry(opened.entry.directory, name))
    return f" What was written meanwhile is kept as {os.fsdecode(name)}."


def _displaced(new: Entry) -> Entry:
    """Return where `put` left what had been in the place: see there."""
    for name in (new.name, new.name + b".0", new.name + b".1", new.name + b".2"):
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=new.directory, follow_symlinks=False)
            return Entry(new.directory, name)
    return new


def _temporary(opened: Opened, data: bytes, like: os.stat_result | None) -> Entry:
    """Write a new file beside the place, with the mode, owner and attributes of the old one."""
    name = f"{TEMPORARY_PREFIX}{os.getpid()}.{os.urandom(8).hex()}".encode()
    entry = Entry(opened.entry.directory, name)
    # Without an old file the mode is what the process gives to new files.
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(name, flags, 0o666 if like is None else 0o600, dir_fd=entry.directory)
    try:
        write_all(fd, data) if data else None
        if like is not None:
            _take_after(opened, fd, like)
        flush(fd)
    except BaseException:
        _remove(entry)
        raise
    finally:
        os.close(fd)
    return entry


def _take_after(opened: Opened, fd: int, like: os.stat_result) -> None:
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
        with suppress(OSError):
            os.fchown(fd, like.st_uid, like.st_gid)
    _copy_attributes(opened, fd)
    os.fchmod(fd, stat.S_IMODE(like.st_mode) & _MODES)


def _copy_attributes(opened: Opened, fd: int) -> None:
    """Copy extended attributes, among them access lists, as far as the system lets us."""
    if not hasattr(os, "listxattr"):
        return
    with suppress(OSError):
        old = opened.open(os.O_RDONLY)
        try:
            for name in os.listxattr(old):
                with suppress(OSError):
                    os.setxattr(fd, name, os.getxattr(old, name))
        finally:
            os.close(old)


def _status(opened: Opened) -> os.stat_result:
    return os.stat(opened.entry.name, dir_fd=opened.entry.directory, follow_symlinks=False)


def _remove(entry: Entry) -> None:
    with suppress(FileNotFoundError):
        os.unlink(entry.name, dir_fd=entry.directory)


# -- What the model has seen of files: a file is changed only as it was seen -----------------------


class Seen(NamedTuple):
    """A file as it was when the model saw it, or wrote it. No digest: it was too large for one."""

    size: int
    mtime_ns: int
    digest: str = ""


class KnownFiles:
    """The files that the model has seen, by their resolved paths."""

    def __init__(self) -> None:
        self._seen: dict[Path, Seen] = {}

    def add(self, path: Path, status: os.stat_result, data: bytes | None) -> None:
        """Take note that the model has seen the file; `data` is all that it held."""
        digest = "" if data is None else sha256_hex(data)
        self._seen[path] = Seen(status.st_size, status.st_mtime_ns, digest)

    def problem(self, path: Path, status: os.stat_result, data: bytes) -> str:
        """Return why the file must be read before it is changed; "" if it must not."""
        seen = self._seen.get(path)
        if seen is None:
            return "it has not been read yet. Read it first, then change it."
        if (seen.size, seen.mtime_ns) == (status.st_size, status.st_mtime_ns):
            return ""
        if seen.digest == sha256_hex(data):
            return ""
        return (
            "it was changed on disk since it was read, by a person, a formatter or a command. "
            "Read it again, then change it."
        )
