"""Write the contents of a restoration beside the worktree and flush them, before it begins.

They are in the directory into which the restoration displaces files (`displaced.py`).
"""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from siding.ground.files import durable
from siding.ground.files.exchange import NO_LINK, Entry
from siding.ground.git.errors import GitError
from siding.ground.git.paths import EXECUTABLE, SYMLINK, quote_path
from siding.ground.git.roots import WorktreeRoot
from siding.ground.git.treewalk import OpenTree
from siding.record.files.displaced import CONTENTS, entry_name, remove_if_empty, write_names
from siding.record.files.plan import Restoration
from siding.record.snapshots.modes import Modes
from siding.record.snapshots.patches import Change
from siding.record.snapshots.store import SnapshotStore, remove_tree

_BLOCK = 1 << 20
_FLUSHED_SINGLY = 200  # more files than this are flushed by one sync of everything
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Staged:
    """An open directory of staged files, and the name of the entry for each path.

    `displacing` is set when the first file of the worktree may be in the directory.
    """

    def __init__(self, fd: int, names: Mapping[bytes, bytes]) -> None:
        self.fd = fd
        self.displacing = False
        self._names = names

    def entry(self, path: bytes) -> Entry:
        return Entry(self.fd, self._names[path])


@contextmanager
def staged(
    store: SnapshotStore,
    root: WorktreeRoot,
    plan: Restoration,
    directory: Path,
    *,
    durable_contents: bool = True,
) -> Iterator[Staged]:
    """Yield the contents that `plan` writes, durable in a new `directory`.

    It is on the worktree's file system. In the end it holds what the restoration displaced; it is
    removed if that is nothing, also if the restoration failed before it displaced anything.
    Permissions are those of the plan; where it has none, a file keeps the ones that the file it
    replaces has, but for the executable bits, which the snapshot decides. Without
    `durable_contents` nothing is flushed: for a worktree that can be made again.
    """
    durable.make_dirs(directory)
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    changes = (*plan.writes, *plan.deletes)
    contents = Staged(fd, {each.path: entry_name(n) for n, each in enumerate(changes)})
    try:
        _refuse_other_device(fd, root)
        if changes:
            write_names(fd, changes)
        if plan.writes:
            _write_all(store, root, plan, directory, fd, flush=durable_contents)
        if durable_contents:
            durable.flush_names(fd)
        yield contents
    finally:
        os.close(fd)
        if contents.displacing:
            remove_if_empty(directory)
        else:
            remove_tree(directory)


def _refuse_other_device(fd: int, root: WorktreeRoot) -> None:
    if os.fstat(fd).st_dev != os.stat(root.path).st_dev:
        raise GitError(
            f"{str(root.path)!r} is on another file system than Siding's home",
            hint="files are renamed into place, which works within one file system only",
        )


def _write_all(
    store: SnapshotStore,
    root: WorktreeRoot,
    plan: Restoration,
    directory: Path,
    fd: int,
    *,
    flush: bool,
) -> None:
    writes, modes = plan.writes, plan.modes
    contents = directory / os.fsdecode(CONTENTS)
    request = "".join(f"{change.new_sha}\n" for change in writes).encode("ascii")
    with contents.open("xb") as output:
        store.git.run_to_fd(
            store.place(),
            ["cat-file", "--batch", "--buffer"],
            doing="reading files of the snapshot",
            stdout=output.fileno(),
            stdin=request,
        )
    leaders = {path: group[0] for group in plan.links for path in group[1:]}
    names = {change.path: entry_name(number) for number, change in enumerate(writes)}
    singly = flush and len(writes) <= _FLUSHED_SINGLY
    with contents.open("rb") as source, OpenTree(root.path) as tree:
        for number, change in enumerate(writes):
            size = _read_header(source, change)
            leader = leaders.get(change.path)
            if leader is not None and _linked(fd, names[leader], entry_name(number)):
                source.seek(size + 1, os.SEEK_CUR)
                continue
            mode = None if modes is None else _wanted(tree, change, modes)
            _write_entry(tree, change, source, size, (fd, entry_name(number)), mode, flush=singly)
            source.read(1)  # the newline after each object
    if flush and not singly:
        os.sync()
    contents.unlink()


def _linked(directory: int, old: bytes, new: bytes) -> bool:
    """Make `new` a link to the staged entry `old`; False where it cannot be one."""
    try:
        os.link(old, new, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINK:
            raise
        return False
    return True


def _read_header(source: BinaryIO, change: Change) -> int:
    """Return the size of the object that comes next; raise GitError when it is not the one."""
    words = source.readline(200).split()
    if len(words) != 3 or words[0].decode("ascii") != change.new_sha or words[1] != b"blob":
        raise GitError(
            f"the snapshot lacks the contents of {quote_path(change.path)}",
            hint="`siding verify` tells more; nothing was changed",
        )
    return int(words[2])


def _write_entry(
    tree: OpenTree,
    change: Change,
    source: BinaryIO,
    size: int,
    place: tuple[int, bytes],
    mode: int | None,
    *,
    flush: bool,
) -> None:
    directory, name = place
    if change.new_mode == SYMLINK:
        os.symlink(_exactly(source, size), name, dir_fd=directory)
        return
    fd = os.open(name, _NEW, 0o666 if mode is None else 0o600, dir_fd=directory)
    try:
        while size:
            block = _exactly(source, min(size, _BLOCK))
            size -= len(block)
            durable.write_all(fd, block)
        os.fchmod(fd, _as_replaced(tree, fd, change) if mode is None else mode)
        if flush:
            durable.flush(fd)
    finally:
        os.close(fd)


def _exactly(source: BinaryIO, size: int) -> bytes:
    data = source.read(size)
    if len(data) != size:
        raise OSError(errno.EIO, "the snapshot's contents end too early")
    return data


def _wanted(tree: OpenTree, change: Change, modes: Modes) -> int:
    """Return the mode that a file had in the snapshot.

    If the worktree belongs to another user, setuid and setgid are left out: on a file that is now
    ours they would give our rights to others.
    """
    mode = modes.of_file(change.path, executable=change.new_mode == EXECUTABLE)
    is_owner = os.fstat(tree.open(b"")).st_uid == os.geteuid()
    return mode if is_owner else mode & ~(stat.S_ISUID | stat.S_ISGID)


def _as_replaced(tree: OpenTree, fd: int, change: Change) -> int:
    made = stat.S_IMODE(os.fstat(fd).st_mode)  # as the umask made it
    present = tree.mode(change.path)
    is_file = present is not None and stat.S_ISREG(present)
    mode = stat.S_IMODE(present or 0) & 0o777 if is_file else made
    return mode | (mode & 0o444) >> 2 if change.new_mode == EXECUTABLE else mode & ~0o111
