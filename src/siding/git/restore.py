"""Make a worktree the tree of a snapshot again, from a comparison of two trees and nothing else.

What is written and what is deleted is known exactly before anything happens: it is the list of
paths that differ between the snapshot that was just taken and the one to go back to. Files that no
snapshot holds (ignored, too large, special) are in neither tree, so nothing here can touch them;
when one of them stands where a file has to be written, that is said, and nothing is done at all.

Every step into a directory is taken through a descriptor with O_NOFOLLOW: a symlink planted
anywhere on the way is an obstacle, never a way out of the worktree. A file is written beside its
place and renamed into it, so that each path is at any moment either what it was or what it shall be.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from siding.git.errors import GitError
from siding.git.patches import Change
from siding.git.paths import parents, quote_path
from siding.git.roots import WorktreeRoot, check_root
from siding.git.store import SnapshotStore

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BATCH_BYTES = 16 << 20  # blobs are read together up to this much, larger ones one by one
_NOTHING, _GITLINK, _SYMLINK, _EXECUTABLE = "000000", "160000", "120000", "100755"


class Restoration(NamedTuple):
    """What going back comes to. Paths in byte order; no path is in two lists."""

    writes: tuple[Change, ...]
    deletes: tuple[Change, ...]
    left: tuple[bytes, ...]  # differing paths that stay: other repositories, or not captured


class InTheWay(GitError):
    """Something that no snapshot holds stands where a file has to be written."""

    code = "in_the_way"


def plan_restoration(changes: Sequence[Change], *, unknown: Sequence[bytes] = ()) -> Restoration:
    """Return what makes the old side of `changes` the new one.

    `unknown` are paths that either snapshot did not capture: they are left as they are.
    """
    untouchable = set(unknown)
    writes: list[Change] = []
    deletes: list[Change] = []
    left: list[bytes] = []
    for change in sorted(changes, key=lambda each: each.path):
        is_link = _GITLINK in (change.old_mode, change.new_mode)
        if is_link or _touches(change.path, untouchable):
            left.append(change.path)
        elif change.new_mode == _NOTHING:
            deletes.append(change)
        else:
            writes.append(change)
    return Restoration(writes=tuple(writes), deletes=tuple(deletes), left=tuple(left))


def obstacles(root: WorktreeRoot, plan: Restoration) -> list[bytes]:
    """Return the paths in the worktree that stand where `plan` has to write and is not to delete.

    Looks only at what the plan writes: a directory with foreign files in it, or a file or link in
    the place of a directory.
    """
    gone = {change.path for change in plan.deletes}
    base = os.fsencode(root.path)
    found: set[bytes] = set()
    for change in plan.writes:
        place = os.path.join(base, change.path)
        if os.path.isdir(place) and not os.path.islink(place):
            found.update(path for path in _files_below(base, change.path) if path not in gone)
        elif change.old_mode == _NOTHING and os.path.lexists(place):
            found.add(change.path)
        for above in parents(change.path):
            there = os.path.join(base, above)
            is_plain_directory = os.path.isdir(there) and not os.path.islink(there)
            if os.path.lexists(there) and not is_plain_directory and above not in gone:
                found.add(above)
    return sorted(found)


def restore(store: SnapshotStore, root: WorktreeRoot, plan: Restoration) -> None:
    """Carry `plan` out: deletions first, then writes, each durable in its directory at the end.

    The caller holds the task's lock and has the present state in a snapshot. Raises InTheWay,
    before anything is changed, when something that is in no snapshot would be lost, and
    WorkspaceReplaced when the root is not the recorded directory. Cut off in between, it can be
    planned and carried out again.
    """
    check_root(root)
    blocked = obstacles(root, plan)
    if blocked:
        names = ", ".join(quote_path(path) for path in blocked[:5])
        raise InTheWay(
            f"{len(blocked)} paths that are in no snapshot stand in the way: {names}",
            hint="move them elsewhere, or have them recorded first",
        )
    fd = os.open(root.path, _DIRECTORY)
    try:
        touched = _delete(fd, [change.path for change in plan.deletes])
        touched |= _write(store, fd, plan.writes)
        _flush(fd, touched)
    finally:
        os.close(fd)


def _delete(root: int, paths: Sequence[bytes]) -> set[bytes]:
    """Unlink the paths, then the directories that this has emptied; return those touched."""
    touched: set[bytes] = set()
    for path in paths:
        directory, name = os.path.split(path)
        try:
            with _opened(root, directory) as fd:
                os.unlink(name, dir_fd=fd)
        except (FileNotFoundError, NotADirectoryError):
            continue
        touched.add(directory)
    for directory in sorted(touched | {p for t in touched for p in parents(t)}, reverse=True):
        if not directory:
            continue
        above, name = os.path.split(directory)
        try:
            with _opened(root, above) as fd:
                os.rmdir(name, dir_fd=fd)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.ENOENT, errno.ENOTDIR, errno.EEXIST):
                raise
            continue
        touched.discard(directory)
        touched.add(above)
    return touched


def _write(store: SnapshotStore, root: int, writes: Sequence[Change]) -> set[bytes]:
    touched: set[bytes] = set()
    sizes = _sizes(store, [change.new_sha for change in writes])
    batch: list[Change] = []
    room = _BATCH_BYTES
    for change in writes:
        size = sizes[change.new_sha]
        if size > _BATCH_BYTES:
            _place_large(store, root, change)
        else:
            if size > room:
                _place_batch(store, root, batch)
                batch, room = [], _BATCH_BYTES
            batch.append(change)
            room -= size
        touched.add(os.path.dirname(change.path))
    _place_batch(store, root, batch)
    return touched


def _place_batch(store: SnapshotStore, root: int, batch: Sequence[Change]) -> None:
    if not batch:
        return
    output = store.git.run(
        store.place(),
        ["cat-file", "--batch"],
        doing="reading files of the snapshot",
        stdin="".join(f"{change.new_sha}\n" for change in batch).encode("ascii"),
    )
    at = 0
    for change in batch:
        end = output.index(b"\n", at)
        size = int(output[at:end].split(b" ")[2])
        data = output[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
        with _new_entry(root, change) as (directory, name):
            if change.new_mode == _SYMLINK:
                os.symlink(data, name, dir_fd=directory)
            else:
                _write_file(directory, name, change, data)


def _place_large(store: SnapshotStore, root: int, change: Change) -> None:
    with _new_entry(root, change) as (directory, name):
        fd = _create(directory, name)
        try:
            store.git.run_to_fd(
                store.place(),
                ["cat-file", "blob", change.new_sha],
                doing="reading a file of the snapshot",
                stdout=fd,
            )
            _settle_file(fd, change)
        finally:
            os.close(fd)


@contextmanager
def _new_entry(root: int, change: Change) -> Iterator[tuple[int, bytes]]:
    """Yield a directory and a free name in it; what is made there is renamed into its place."""
    above, name = os.path.split(change.path)
    _make_directories(root, above)
    temporary = b".siding-restore-%d" % os.getpid()
    with _opened(root, above) as fd:
        _discard(fd, temporary)
        try:
            yield fd, temporary
            _clear_directory(fd, name)
            os.rename(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)
        except BaseException:
            _discard(fd, temporary)
            raise


def _write_file(directory: int, name: bytes, change: Change, data: bytes) -> None:
    fd = _create(directory, name)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        _settle_file(fd, change)
    finally:
        os.close(fd)


def _create(directory: int, name: bytes) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, 0o666, dir_fd=directory)


def _settle_file(fd: int, change: Change) -> None:
    mode = stat.S_IMODE(os.fstat(fd).st_mode)  # as the umask made it
    if change.new_mode == _EXECUTABLE:
        os.fchmod(fd, mode | (mode & 0o444) >> 2)
    os.fsync(fd)


def _clear_directory(directory: int, name: bytes) -> None:
    """Remove an empty directory that stands where a file shall be; `obstacles` saw to the rest."""
    try:
        os.rmdir(name, dir_fd=directory)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            _clear_empty_below(directory, name)
            return
        raise


def _clear_empty_below(directory: int, name: bytes) -> None:
    fd = os.open(name, _DIRECTORY, dir_fd=directory)
    try:
        for below in os.listdir(fd):
            _clear_directory(fd, os.fsencode(below))
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=directory)


def _make_directories(root: int, path: bytes) -> None:
    for above in [*reversed(parents(path)), path]:
        if not above:
            continue
        directory, name = os.path.split(above)
        with _opened(root, directory) as fd:
            try:
                os.mkdir(name, dir_fd=fd)
            except FileExistsError:
                continue


@contextmanager
def _opened(root: int, path: bytes) -> Iterator[int]:
    """Open a directory below `root`, one name at a time, following no link."""
    fd = os.dup(root)
    try:
        for name in path.split(b"/") if path else []:
            below = os.open(name, _DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def _flush(root: int, directories: set[bytes]) -> None:
    for path in sorted(directories):
        try:
            with _opened(root, path) as fd:
                os.fsync(fd)
        except (FileNotFoundError, NotADirectoryError):
            continue


def _discard(directory: int, name: bytes) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        pass


def _sizes(store: SnapshotStore, shas: Sequence[str]) -> dict[str, int]:
    """Return the size of each blob; raises GitError when one is missing."""
    wanted = sorted(set(shas))
    if not wanted:
        return {}
    output = store.git.run(
        store.place(),
        ["cat-file", "--batch-check=%(objectname) %(objectsize)"],
        doing="reading the snapshot",
        stdin="".join(f"{sha}\n" for sha in wanted).encode("ascii"),
    )
    sizes: dict[str, int] = {}
    for line in output.decode("ascii").splitlines():
        sha, _, size = line.partition(" ")
        if not size.isdigit():
            raise GitError(
                f"the snapshot lacks the file contents {sha}", hint="`siding verify` tells more"
            )
        sizes[sha] = int(size)
    return sizes


def _files_below(base: bytes, directory: bytes) -> Iterator[bytes]:
    for parent, directories, files in os.walk(os.path.join(base, directory)):
        links = [name for name in directories if os.path.islink(os.path.join(parent, name))]
        for name in [*files, *links]:
            yield os.path.relpath(os.path.join(parent, name), base)


def _touches(path: bytes, unknown: set[bytes]) -> bool:
    return path in unknown or any(above in unknown for above in parents(path))
