"""The files of a checkout, written by git beside it and then exchanged with those in it.

git writes them into an empty directory, with the person's filters, line endings and sparse rules.
So everything that can fail (a filter, a full disk, git's own refusal) fails while the checkout is
as it was. The exchange after that needs neither git nor room, and neither does taking it back: the
displaced files are in the directory. Its list (`displaced_list.py`) says which entries are staged
and which are displaced, so that both directions can be gone on with after a crash.
"""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count, takewhile
from pathlib import Path

from siding.ground.files.durable import flush, flush_names, make_dirs
from siding.ground.files.exchange import Entry, put, rename_new
from siding.ground.files.regular import read_small
from siding.ground.git.paths import GITLINK, NOTHING, join, parents
from siding.ground.git.roots import recorded_root
from siding.ground.git.treewalk import OpenTree
from siding.ground.namedtuples import NamedTuple
from siding.record.files.displaced import (
    NAMES,
    UNKNOWN,
    Listed,
    entry_name,
    identity_at,
    read_names,
    remove_if_empty,
    write_names,
)
from siding.record.files.plan import Restoration
from siding.record.files.restore import prune, restore
from siding.record.files.staging import Staged
from siding.record.moving.checkout import CheckoutGit, check_out, read_trees, tracked_among
from siding.record.moving.model import CheckoutPlace, Trees
from siding.record.snapshots.patches import Change
from siding.record.snapshots.store import remove_tree

TREE = "tree"  # the directory that git writes into
_FLUSHED_SINGLY = 200


class Displacing(NamedTuple):
    """A checkout and the open directory of what is displaced in it."""

    place: CheckoutPlace
    tree: OpenTree
    directory: Path
    fd: int

    def at_place(self, each: Listed) -> str:
        return identity_at(join(os.fsencode(self.place.root), each.path))

    def at(self, entry: bytes) -> str:
        return identity_at(os.path.join(os.fsencode(self.directory), entry))

    def put(self, entry: bytes, each: Listed) -> None:
        """Put an entry into its empty place, unless somebody fills that in this very moment."""
        above, name = os.path.split(each.path)
        with suppress(FileExistsError):
            rename_new(Entry(self.fd, entry), Entry(self.tree.writable(above), name))

    def unlink(self, entry: bytes) -> None:
        os.unlink(entry, dir_fd=self.fd)


def identities(place: CheckoutPlace, changes: Iterable[Change]) -> dict[bytes, str]:
    """Return the identity of each file that `changes` replaces or deletes.

    Take them before git compares the files: a version saved after that has another one.
    """
    root = os.fsencode(place.root)
    return {each.path: identity_at(join(root, each.path)) for each in changes}


def stage(
    where: CheckoutGit,
    trees: Trees,
    changes: Sequence[Change],
    directory: Path,
    *,
    index: Path,
    before: Mapping[bytes, str],
    whole: Sequence[Change] = (),
    keep_fds: Sequence[int] = (),
) -> None:
    """Have git write the new files into `directory`, durably; the list of them is written last.

    `index` is a copy of the checkout's, at the old side of `changes`; it is at the new one
    afterwards. `whole` are changes that the index has already. Raises CommandFailed if git refuses;
    the checkout is not touched.
    """
    tree = directory / TREE
    make_dirs(directory)
    tree.mkdir(mode=0o700, exist_ok=True)  # git's, and gone when the files are staged
    there = where._replace(place=where.place._replace(root=tree))
    _copy_untracked_attributes(where, index, tree, changes)
    read_trees(there, index, trees, keep_fds=keep_fds)
    check_out(there, index, whole)
    writes = [each for each in changes if _is_file(tree, each)]
    deletes = [each for each in changes if each.new_mode == NOTHING and each.old_mode != GITLINK]
    new = {}
    for number, change in enumerate(writes):
        target = directory / os.fsdecode(entry_name(number))
        (tree / os.fsdecode(change.path)).rename(target)
        new[change.path] = identity_at(os.fsencode(target))
    _flush_files(directory, len(writes))
    remove_tree(tree)
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush_names(fd)
        write_names(fd, (*writes, *deletes), before=before, new=new)
        flush_names(fd)
    finally:
        os.close(fd)


def is_staged(directory: Path) -> bool:
    """Tell whether the staging was completed, so that files may have been exchanged."""
    return (directory / os.fsdecode(NAMES)).exists()


def pending(directory: Path) -> list[Listed]:
    """Return the entries that are not exchanged yet."""
    return [each for each in read_names(directory).values() if _is_pending(directory, each)]


def listed_paths(directory: Path) -> set[bytes]:
    """Return the paths that were staged; a sparse checkout leaves out the others."""
    return {each.path for each in read_names(directory).values()}


def is_as_before(place: CheckoutPlace, entries: Iterable[Listed]) -> bool:
    """Tell whether the checkout has, at these paths, what it had when they were staged."""
    root = os.fsencode(place.root)
    return all(_is_as_before(join(root, each.path), each) for each in entries)


def exchange(place: CheckoutPlace, directory: Path, changes: Sequence[Change]) -> None:
    """Exchange what is pending; durable on return. Can be repeated after any failure."""
    by_path = {change.path: change for change in changes}
    waiting = pending(directory)
    plan = Restoration(
        writes=tuple(by_path[each.path] for each in waiting if not each.is_deletion),
        deletes=tuple(by_path[each.path] for each in waiting if each.is_deletion),
        left=(),
        directories=tuple(each.path for each in changes if each.new_mode == GITLINK),
    )
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        staged = Staged(fd, {each.path: each.entry for each in waiting})
        # What the person has closed against writing stays closed, as with git.
        restore(recorded_root(place.root), plan, staged, unlock=False)
    finally:
        os.close(fd)
    for change in changes:
        if change.old_mode == GITLINK and change.new_mode == NOTHING:
            with suppress(OSError):  # a submodule that is checked out stays, as with git
                os.rmdir(join(os.fsencode(place.root), change.path))


def give_back(place: CheckoutPlace, directory: Path) -> list[bytes]:
    """Reverse what was exchanged; durable on return.

    Returns the paths that somebody has changed since, which stay as they are. Can be repeated.
    """
    stays = []
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with OpenTree(place.root, unlock=False) as tree:
            here = Displacing(place, tree, directory, fd)
            touched = set()
            for each in read_names(directory).values():
                if _is_pending(directory, each):
                    if each.mode == NOTHING:  # its directory may have been made already
                        touched.add(os.path.dirname(each.path))
                    continue
                if not _give_back_one(here, each):
                    stays.append(each.path)
                touched.add(os.path.dirname(each.path))
            prune(tree, touched, keep=())
            flush_names(fd)
            tree.flush(touched)
    finally:
        os.close(fd)
    return stays


def discard(directory: Path) -> None:
    """Remove staged contents that did not come to use; displaced files stay."""
    remove_tree(directory / TREE)
    for each in pending(directory):
        if not each.is_deletion:
            (directory / os.fsdecode(each.entry)).unlink()
    if is_staged(directory):
        remove_if_empty(directory)
        return
    remove_tree(directory)  # it was cut off: nothing can have been displaced yet
    with suppress(OSError):
        directory.parent.rmdir()


def _is_pending(directory: Path, each: Listed) -> bool:
    there = identity_at(os.path.join(os.fsencode(directory), each.entry))
    return there == UNKNOWN if each.is_deletion else there == each.new


def _is_as_before(full: bytes, each: Listed) -> bool:
    there = identity_at(full)
    if each.mode in (NOTHING, GITLINK):  # a directory in the place is none of these files
        return there == UNKNOWN or stat.S_ISDIR(os.lstat(full).st_mode)
    return there == each.before


def _give_back_one(here: Displacing, each: Listed) -> bool:
    """Put a displaced file back; False if the file in its place was changed since."""
    full, tree = join(os.fsencode(here.place.root), each.path), here.tree
    above, name = os.path.split(each.path)
    aside = Entry(here.fd, _displaced_name(here.directory, each))
    if each.is_deletion:
        try:
            rename_new(aside, Entry(tree.make(above), name))
        except (FileExistsError, NotADirectoryError):
            return identity_at(full) == each.before
        return True
    if identity_at(full) != each.new:
        return _is_as_before(full, each)
    if each.mode in (NOTHING, GITLINK):
        os.rename(name, each.entry, src_dir_fd=tree.writable(above), dst_dir_fd=here.fd)
    else:
        put(aside, Entry(tree.writable(above), name))
        end_one(here, each)
    return True


def _displaced_name(directory: Path, each: Listed) -> bytes:
    """Return the name of a displaced file, which has a suffix where names cannot be exchanged."""
    if os.path.lexists(directory / os.fsdecode(each.entry)):
        return each.entry
    return each.entry + b".0"


def _is_file(tree: Path, change: Change) -> bool:
    """Tell whether git wrote the file; it leaves out what a sparse checkout does not show."""
    if change.new_mode in (NOTHING, GITLINK):
        return False
    return os.path.lexists(join(os.fsencode(tree), change.path))


def _copy_untracked_attributes(
    where: CheckoutGit,
    index: Path,
    tree: Path,
    changes: Sequence[Change],
) -> None:
    """Copy the `.gitattributes` files that git does not track: it reads them where it writes.

    Those that it tracks are read from the index.
    """
    above = {directory for each in changes for directory in (b"", *parents(each.path))}
    found = []
    for path in (os.path.join(directory, b".gitattributes") for directory in sorted(above)):
        data = read_small(Path(os.fsdecode(join(os.fsencode(where.place.root), path))))
        if data is not None:
            found.append((path, data))
    tracked = tracked_among(where, index, [path for path, _data in found])
    for path, data in found:
        if path not in tracked:
            target = tree / os.fsdecode(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def _flush_files(directory: Path, count: int) -> None:
    if count > _FLUSHED_SINGLY:
        os.sync()
        return
    for number in range(count):
        path = directory / os.fsdecode(entry_name(number))
        if path.is_symlink():
            continue
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            flush(fd)
        finally:
            os.close(fd)


def end_steps(place: CheckoutPlace, directory: Path) -> None:
    """Finish or take back what was cut off between two steps; durable on return. Can be repeated.

    A file that somebody has put into a place meanwhile stays there.
    """
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with OpenTree(place.root, unlock=False) as tree:
            here = Displacing(place, tree, directory, fd)
            listed = read_names(directory).values()
            touched = {os.path.dirname(each.path) for each in listed if end_one(here, each)}
            if touched:
                flush_names(fd)
                tree.flush(touched)
    finally:
        os.close(fd)


def end_one(here: Displacing, each: Listed) -> bool:
    """Do this for one entry; return whether there was something to do. Not durable."""
    entry, place = here.at(each.entry), here.at_place(each)
    if entry == place != UNKNOWN:  # linked: the unlink was still to come
        here.unlink(each.entry)
        return True
    if each.is_deletion:
        return False
    if entry == UNKNOWN:
        return _end_way_back(here, each)
    if entry == here.at(_on_way_back(each)):  # linked: the new file has its first name again
        here.unlink(_on_way_back(each))
        return True
    aside = _newest(here, each.entry)
    if aside is None:
        return False
    if place == UNKNOWN:
        here.put(aside, each)
    elif place == here.at(aside):
        here.unlink(aside)
    return True


def _end_way_back(here: Displacing, each: Listed) -> bool:
    """Finish giving a displaced file back: the new one has its first name again then."""
    old, new = each.entry + b".0", _on_way_back(each)
    if here.at(new) != each.new or each.new == UNKNOWN:
        return False
    if here.at(old) != UNKNOWN and here.at_place(each) == UNKNOWN:
        here.put(old, each)
    elif here.at(old) == here.at_place(each) != UNKNOWN:
        here.unlink(old)
    rename_new(Entry(here.fd, new), Entry(here.fd, each.entry))
    return True


def _on_way_back(each: Listed) -> bytes:
    """Return the name of the new file from when it leaves its place until the way back is ended."""
    return each.entry + b".0.0"


def _newest(here: Displacing, entry: bytes) -> bytes | None:
    """Return the last of the names ``<entry>.0``, ``.1`` and so on that are there."""
    names = (b"%b.%d" % (entry, number) for number in count())
    there = list(takewhile(lambda name: here.at(name) != UNKNOWN, names))
    return there[-1] if there else None
