"""Change the files of a checkout and its index from one tree to another, and back.

Every git command here works on a copy of the person's index, beside it. The index itself is only
replaced as a whole, by a rename, while git's own lock (``index.lock``) is held.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from siding.ground.files.durable import flush_dir, write_and_rename
from siding.ground.files.regular import read_small
from siding.ground.git.command import Place
from siding.ground.git.errors import CommandFailed
from siding.ground.git.index_file import exceptions_in
from siding.ground.git.paths import GITLINK, NOTHING, join, parents
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings, filter_environment, settings_in
from siding.ground.git.status import EntryKind, parse
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.model import CheckoutPlace, IndexLocked, Trees
from siding.record.snapshots.patches import Change

_MARK = b"siding "
_STATUS = (
    "status",
    "--porcelain=v2",
    "-z",
    "--no-renames",
    "--untracked-files=no",
    "--ignore-submodules=dirty",
)
_PREFIX = "siding-index-"


class CheckoutGit(NamedTuple):
    """One of the person's checkouts, with the repository and the settings for git in it."""

    repository: Repository
    user: UserSettings
    place: CheckoutPlace

    def at(self, index: Path | None) -> Place:
        """Return the place of a git command; `index` as in `git_place`."""
        return git_place(self.repository, self.user, self.place, index)


class Lock:
    """git's lock of an index (``index.lock``), held by this process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def release(self) -> None:
        self._path.unlink(missing_ok=True)
        flush_dir(self._path.parent)


def take_lock(place: CheckoutPlace, token: str) -> Lock:
    """Take git's lock of the index, with `token` as its content. Raises IndexLocked if it
    exists."""
    path = place.git_dir / "index.lock"
    written = private_index(place, token).with_suffix(".mark")
    write_and_rename(
        written.with_suffix(".new"), written, _MARK + token.encode("ascii") + b"\n", mode=0o644
    )
    try:
        # link() makes the lock with its content at once. O_EXCL would leave an empty lock if we
        # died
        # before writing, and nobody could tell whose that is.
        os.link(written, path)
    except FileExistsError:
        raise IndexLocked(
            f"another git is at work in {str(place.root)!r}: {str(path)!r} is there",
            hint="wait for it; if no git runs, one that died left the file: remove it",
        ) from None
    finally:
        written.unlink(missing_ok=True)
    flush_dir(place.git_dir)
    return Lock(path)


def lock_is_ours(place: CheckoutPlace, token: str) -> bool:
    """Tell whether the lock exists and was taken with this token."""
    data = read_small(place.git_dir / "index.lock", 200)
    return data is not None and data.strip() == _MARK + token.encode("ascii")


def release_dead_lock(place: CheckoutPlace, token: str) -> None:
    """Remove the lock if a killed Siding process took it with this token."""
    if lock_is_ours(place, token):
        Lock(place.git_dir / "index.lock").release()


def copy_index(place: CheckoutPlace, token: str) -> Path:
    """Copy the index with its modification time, and return the copy.

    git compares that time with the files' to know which ones it must read again (racy-git).
    """
    target = private_index(place, token)
    source = place.git_dir / "index"
    try:
        found = source.stat()
    except FileNotFoundError:
        return target
    # `shutil` would load five modules for this.
    with source.open("rb") as old, target.open("wb") as new:
        while part := old.read(1 << 20):
            new.write(part)
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
    return target


def private_index(place: CheckoutPlace, token: str) -> Path:
    """Return the path of the copy of the index."""
    return place.git_dir / (_PREFIX + token)


def put_in_place(place: CheckoutPlace, private: Path) -> None:
    """Rename the copy over the checkout's index, durably. git has flushed its content already."""
    private.rename(place.git_dir / "index")
    flush_dir(place.git_dir)


def discard_index(place: CheckoutPlace, token: str) -> None:
    """Remove the copy of the index and its lock files."""
    path = private_index(place, token)
    path.unlink(missing_ok=True)
    path.with_name(path.name + ".lock").unlink(missing_ok=True)
    for suffix in (".mark", ".new"):
        path.with_suffix(suffix).unlink(missing_ok=True)


def git_place(
    repository: Repository, user: UserSettings, place: CheckoutPlace, index: Path | None
) -> Place:
    """Return the place of a git command in the checkout. `index` is a copy to work on; with None
    git reads the real index and does not write it."""
    return Place(
        git_dir=place.git_dir,
        common_dir=repository.paths.common_dir,
        work_tree=place.root,
        index_file=index,
        settings=(*settings_in(repository.git, user, place.git_dir), "checkout.workers=1"),
        locks=index is not None,
    )


def dirty_paths(
    repository: Repository,
    user: UserSettings,
    place: CheckoutPlace,
    changes: Sequence[Change],
    *,
    index: Path | None,
) -> tuple[set[bytes], set[bytes]]:
    """Return the tracked paths with uncommitted changes, and the excused paths of `changes`.

    An excused path is on disk, but marked in the index so that git does not compare it. If there
    are few changes, git looks only at the paths that they touch.
    """
    where = git_place(repository, user, place, index)
    env = filter_environment(repository.git, user)
    running = repository.git.start(where, [*_STATUS, *_touched(place, changes)], env=env)
    excused = _excused(repository, where, place, changes)
    done = running.finish()
    if done.returncode:
        raise CommandFailed("looking at your checkout", done.argv, done.returncode, done.stderr)
    dirty = {
        entry.path
        for entry in parse(done.stdout)
        if entry.kind in (EntryKind.TRACKED, EntryKind.CONFLICTED)
    }
    return dirty, excused


def in_the_way(place: CheckoutPlace, changes: Sequence[Change]) -> set[bytes]:
    """Return the untracked and ignored paths on disk that `changes` would overwrite.

    These are files in the place of a new file or of a directory above one, and the files in a
    directory that has to become a file.
    """
    root = os.fsencode(place.root)
    gone = {change.path for change in changes if change.new_mode == NOTHING}
    replaced = {change.path for change in changes if change.old_mode != NOTHING}
    found: set[bytes] = set()
    for change in changes:
        if change.new_mode in (NOTHING, GITLINK):
            continue
        full = join(root, change.path)
        if is_real_directory(full):
            found.update(path for path in _files_below(root, change.path) if path not in gone)
        elif change.old_mode == NOTHING and os.path.lexists(full):
            found.add(change.path)
        for above in parents(change.path):
            there = join(root, above)
            if above not in replaced and os.path.lexists(there) and not is_real_directory(there):
                found.add(above)
    return found


def read_trees(
    where: CheckoutGit, index: Path, trees: Trees, *, keep_fds: Sequence[int] = ()
) -> None:
    """Write the files that differ between two trees. If git refuses, it has changed no file."""
    where.repository.git.run(
        where.at(index),
        ["read-tree", "-m", "-u", trees.old, trees.new],
        doing="writing the files of the change",
        keep_fds=keep_fds,
        env=filter_environment(where.repository.git, where.user),
    )


def check_out(
    where: CheckoutGit,
    index: Path,
    changes: Iterable[Change],
) -> None:
    """Write the new files of these changes, which the index has already."""
    paths = b"".join(each.path + b"\0" for each in changes if each.new_mode != NOTHING)
    if paths:
        where.repository.git.run(
            where.at(index),
            ["checkout-index", "-q", "-f", "-u", "-z", "--stdin"],
            doing="writing the files of the checkout",
            stdin=paths,
            env=filter_environment(where.repository.git, where.user),
        )


def mark_left_out(where: CheckoutGit, index: Path, paths: Iterable[bytes]) -> None:
    """Have the index know that a sparse checkout leaves these paths out."""
    lines = b"".join(path + b"\0" for path in paths)
    sparse = (where.place.git_dir / "info" / "sparse-checkout").exists()
    if lines and sparse:
        where.repository.git.run(
            where.at(index),
            ["update-index", "--skip-worktree", "-z", "--stdin"],
            doing="preparing the index",
            stdin=lines,
        )


def tracked_among(
    where: CheckoutGit,
    index: Path,
    paths: Iterable[bytes],
) -> set[bytes]:
    """Return those of the paths that the index has."""
    wanted = set(paths)
    if not wanted:
        return set()
    output = where.repository.git.run(
        where.at(index), ["ls-files", "-z"], doing="looking at the index"
    )
    return wanted.intersection(output.split(b"\0"))


def refresh_entries(
    where: CheckoutGit,
    index: Path,
    changes: Sequence[Change],
) -> None:
    """Have the index know the times of the files of `changes`; git would read them again else."""
    paths = [each.path for each in changes if each.new_mode not in (NOTHING, GITLINK)]
    few = ["add", "--refresh", "--", *map(os.fsdecode, paths)]
    command = few if _fit(paths) else ["update-index", "-q", "--refresh"]
    if paths:
        env = filter_environment(where.repository.git, where.user)
        where.repository.git.attempt(where.at(index), command, env=env)


def _excused(
    repository: Repository, where: Place, place: CheckoutPlace, changes: Sequence[Change]
) -> set[bytes]:
    """Return the changed paths that are on disk and marked assume-unchanged or skip-worktree."""
    tracked = [c.path for c in changes if c.old_mode not in (NOTHING, GITLINK)]
    if not tracked:
        return set()
    wanted = set(tracked)
    read = exceptions_in(
        where.index_file or place.git_dir / "index", repository.paths.hash_size // 2
    )
    marked = _marked(repository, where, tracked) if read is None else read.excused
    root = os.fsencode(place.root)
    return {path for path in wanted & marked if os.path.lexists(join(root, path))}


def _marked(repository: Repository, where: Place, tracked: Sequence[bytes]) -> set[bytes]:
    """Ask git which of the paths, and perhaps which others, are excused from comparison."""
    few = _fit(tracked)
    arguments = ["ls-files", "-v", "-z", *(["--", *map(os.fsdecode, tracked)] if few else [])]
    output = repository.git.run(where, arguments, doing="looking at the index")
    lines = ((line[:1], line[2:]) for line in output.split(b"\0"))
    return {path for tag, path in lines if tag.islower() or tag == b"S"}


def _touched(place: CheckoutPlace, changes: Sequence[Change]) -> list[str]:
    """Return the paths that matter to `changes` as arguments, none if there are too many.

    To git a directory means everything below it. So a parent of a path is named only if it is no
    directory on disk: a file there, or nothing, would be in the way or staged.
    """
    root = os.fsencode(place.root)
    paths = {change.path for change in changes}
    above = {directory for path in paths for directory in parents(path)}
    paths |= {path for path in above if not is_real_directory(join(root, path))}
    return ["--", *map(os.fsdecode, sorted(paths))] if _fit(paths) else []


def _fit(paths: Collection[bytes]) -> bool:
    """Tell whether the paths fit on a command line (Linux limits one to about 2 MB)."""
    return len(paths) <= 500 and sum(map(len, paths)) <= 100_000


def _files_below(root: bytes, directory: bytes) -> Iterator[bytes]:
    for parent, directories, files in os.walk(join(root, directory)):
        links = [name for name in directories if os.path.islink(os.path.join(parent, name))]
        for name in [*files, *links]:
            yield os.path.relpath(os.path.join(parent, name), root)


def is_real_directory(path: bytes) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
