"""The system calls that change, flush or lock what a file system holds (Linux, x86_64 and aarch64).

One row per call says how to find the files it names and what it does to them. Numbers come from the
kernel's `unistd_64.h` and `asm-generic/unistd.h`; aarch64 has only the `*at` forms.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Effect(StrEnum):
    """What a call does to the disk, as far as a fault is concerned."""

    WRITE = "write"  # stores bytes; can be cut short
    SIZE = "size"  # truncates or reserves
    SYNC = "sync"  # makes earlier calls durable
    OPEN = "open"
    NAME = "name"  # makes or moves a name; needs room in a directory
    REMOVE = "remove"
    META = "meta"
    LOCK = "lock"
    READ = "read"


class PathArgument(NamedTuple):
    """Where a call keeps a path: the argument with its directory descriptor (None: the cwd)."""

    directory: int | None
    pointer: int


class Syscall(NamedTuple):
    """How one system call is numbered and how its arguments are laid out."""

    name: str
    x86_64: int | None
    aarch64: int | None
    effect: Effect
    fd: int | None = None
    paths: tuple[PathArgument, ...] = ()
    flags: int | None = None  # argument holding open(2) flags
    length: int | None = None  # argument that, made smaller, makes the write short


def _at(*pairs: tuple[int | None, int]) -> tuple[PathArgument, ...]:
    return tuple(PathArgument(directory=directory, pointer=pointer) for directory, pointer in pairs)


def _on_fd(
    name: str, x86: int, arm: int, effect: Effect, *, fd: int = 0, length: int | None = None
) -> Syscall:
    return Syscall(name=name, x86_64=x86, aarch64=arm, effect=effect, fd=fd, length=length)


def _on_paths(
    name: str, x86: int, arm: int | None, effect: Effect, *pairs: tuple[int | None, int]
) -> Syscall:
    return Syscall(name=name, x86_64=x86, aarch64=arm, effect=effect, paths=_at(*pairs))


def _opens(
    name: str, x86: int, arm: int | None, path: tuple[int | None, int], flags: int
) -> Syscall:
    return Syscall(
        name=name, x86_64=x86, aarch64=arm, effect=Effect.OPEN, paths=_at(path), flags=flags
    )


TABLE: tuple[Syscall, ...] = (
    _on_fd("write", 1, 64, Effect.WRITE, length=2),
    _on_fd("pwrite64", 18, 68, Effect.WRITE, length=2),
    _on_fd("writev", 20, 66, Effect.WRITE, length=2),
    _on_fd("pwritev", 296, 70, Effect.WRITE, length=2),
    _on_fd("pwritev2", 328, 287, Effect.WRITE, length=2),
    _on_fd("sendfile", 40, 71, Effect.WRITE, length=3),
    _on_fd("copy_file_range", 326, 285, Effect.WRITE, fd=2, length=4),
    _on_fd("splice", 275, 76, Effect.WRITE, fd=2, length=4),
    _on_paths("truncate", 76, 45, Effect.SIZE, (None, 0)),
    _on_fd("ftruncate", 77, 46, Effect.SIZE),
    _on_fd("fallocate", 285, 47, Effect.SIZE),
    _on_fd("fsync", 74, 82, Effect.SYNC),
    _on_fd("fdatasync", 75, 83, Effect.SYNC),
    _on_fd("syncfs", 306, 267, Effect.SYNC),
    _on_fd("sync_file_range", 277, 84, Effect.SYNC),
    _opens("open", 2, None, (None, 0), 1),
    _opens("openat", 257, 56, (0, 1), 2),
    _on_paths("creat", 85, None, Effect.OPEN, (None, 0)),
    _on_paths("openat2", 437, 437, Effect.OPEN, (0, 1)),
    _on_paths("rename", 82, None, Effect.NAME, (None, 0), (None, 1)),
    _on_paths("renameat", 264, 38, Effect.NAME, (0, 1), (2, 3)),
    _on_paths("renameat2", 316, 276, Effect.NAME, (0, 1), (2, 3)),
    _on_paths("link", 86, None, Effect.NAME, (None, 0), (None, 1)),
    _on_paths("linkat", 265, 37, Effect.NAME, (0, 1), (2, 3)),
    _on_paths("symlink", 88, None, Effect.NAME, (None, 1)),
    _on_paths("symlinkat", 266, 36, Effect.NAME, (1, 2)),
    _on_paths("mkdir", 83, None, Effect.NAME, (None, 0)),
    _on_paths("mkdirat", 258, 34, Effect.NAME, (0, 1)),
    _on_paths("mknod", 133, None, Effect.NAME, (None, 0)),
    _on_paths("mknodat", 259, 33, Effect.NAME, (0, 1)),
    _on_paths("unlink", 87, None, Effect.REMOVE, (None, 0)),
    _on_paths("unlinkat", 263, 35, Effect.REMOVE, (0, 1)),
    _on_paths("rmdir", 84, None, Effect.REMOVE, (None, 0)),
    _on_paths("chmod", 90, None, Effect.META, (None, 0)),
    _on_fd("fchmod", 91, 52, Effect.META),
    _on_paths("fchmodat", 268, 53, Effect.META, (0, 1)),
    _on_paths("fchmodat2", 452, 452, Effect.META, (0, 1)),
    _on_paths("utimensat", 280, 88, Effect.META, (0, 1)),
    _on_fd("flock", 73, 32, Effect.LOCK),
    _on_fd("read", 0, 63, Effect.READ),
    _on_fd("pread64", 17, 67, Effect.READ),
    _on_fd("readv", 19, 65, Effect.READ),
    _on_fd("getdents64", 217, 61, Effect.READ),
)

IO_URING_SETUP = 425  # the same number on both; refused, because its writes would go unseen


def by_number(machine: str, *, reads: bool) -> Mapping[int, Syscall]:
    """The calls to stop at on `machine` ("x86_64" or "aarch64"), by number."""
    rows = [row for row in TABLE if reads or row.effect is not Effect.READ]
    numbered = [(row.x86_64 if machine == "x86_64" else row.aarch64, row) for row in rows]
    return {number: row for number, row in numbered if number is not None}
