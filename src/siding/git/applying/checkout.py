"""Change the files of a checkout and its index from one tree to another, and back.

Every git command here works on a copy of the person's index, beside it. The index itself is only
replaced as a whole, by a rename, while git's own lock (``index.lock``) is held.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from siding.files.durable import flush_dir, write_and_rename
from siding.files.regular import read_small
from siding.git.command import Place
from siding.git.errors import CommandFailed, GitError
from siding.git.paths import join, parents
from siding.git.repository import Repository
from siding.git.settings import UserSettings
from siding.git.snapshots.patches import Change
from siding.git.status import EntryKind, parse
from siding.ids import Sha
from siding.namedtuples import NamedTuple

_NOTHING, _GITLINK = "000000", "160000"
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


class CheckoutPlace(NamedTuple):
    """The root of one of the person's checkouts, and its git directory."""

    root: Path
    git_dir: Path


class Trees(NamedTuple):
    """Two commits or trees: the files go from `old` to `new`."""

    old: Sha
    new: Sha


class IndexLocked(GitError):
    """Another git command holds, or left behind, the lock of the checkout's index."""

    code = "index_locked"


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
    import shutil

    shutil.copyfile(source, target)
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
        settings=(*user.settings, "checkout.workers=1"),
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
    running = repository.git.start(where, [*_STATUS, *_touched(place, changes)])
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
    gone = {change.path for change in changes if change.new_mode == _NOTHING}
    replaced = {change.path for change in changes if change.old_mode != _NOTHING}
    found: set[bytes] = set()
    for change in changes:
        if change.new_mode in (_NOTHING, _GITLINK):
            continue
        full = join(root, change.path)
        if _is_real_directory(full):
            found.update(path for path in _files_below(root, change.path) if path not in gone)
        elif change.old_mode == _NOTHING and os.path.lexists(full):
            found.add(change.path)
        for above in parents(change.path):
            there = join(root, above)
            if above not in replaced and os.path.lexists(there) and not _is_real_directory(there):
                found.add(above)
    return found


def read_trees(
    repository: Repository,
    user: UserSettings,
    place: CheckoutPlace,
    index: Path,
    old: str,
    new: str,
    *,
    keep_fds: Sequence[int] = (),
) -> None:
    """Change the files that differ between two trees. If git refuses, it has changed no file."""
    repository.git.run(
        git_place(repository, user, place, index),
        ["read-tree", "-m", "-u", old, new],
        doing="changing the files of the checkout",
        keep_fds=keep_fds,
        env=_filter_environment(repository) if user.filters else {},
    )


def settle(
    repository: Repository,
    user: UserSettings,
    place: CheckoutPlace,
    token: str,
    trees: Trees,
    changes: Sequence[Change],
    *,
    publish: bool,
    whatever: bool = False,
) -> bool:
    """Bring the files to `new`, each of which may be at `old`, at `new` or half written.

    The caller holds the lock. Returns False, and changes no file, if the person has changed one of
    them meanwhile. With `whatever` such a file is left as it is and the others are changed.
    """
    discard_index(place, token)
    private = copy_index(place, token)
    here = _Files(repository, user, place, private, changes)
    at_old, at_new = here.at(new=False), here.at(new=True)
    lost = {c.path for c in changes if c.path not in at_old | at_new and here.is_lost(c)}
    others = {c.path for c in changes} - at_old - at_new - lost
    if others and not whatever:
        discard_index(place, token)
        return False
    by_path = {c.path: c for c in changes}
    discard_index(place, token)
    copy_index(place, token)
    here.set_entries(
        {
            c.path: (c.old_mode, c.old_sha) if c.path in at_old else (c.new_mode, c.new_sha)
            for c in changes
        }
    )
    for path in lost:
        _remove_remains(join(os.fsencode(place.root), path))
    here.refresh()
    read_trees(repository, user, place, private, trees.old, trees.new)
    here.check_out(by_path[path] for path in lost if by_path[path].new_mode != _NOTHING)
    if publish:
        put_in_place(place, private)
    discard_index(place, token)
    return True


def unstaged_at(
    repository: Repository,
    user: UserSettings,
    place: CheckoutPlace,
    token: str,
    changes: Sequence[Change],
) -> set[bytes]:
    """Return the paths that were written and neither changed, staged nor committed since.

    `changes` lead back: the file must equal the old side, the index entry the new side.
    """
    sides = {c.path: None if c.new_mode == _NOTHING else (c.new_mode, c.new_sha) for c in changes}
    with _seen(repository, user, place, token, changes) as here:
        entries = here.entries()
        return {path for path in here.at(new=False) if entries.get(path) == sides[path]}


def stands_at(
    repository: Repository,
    user: UserSettings,
    place: CheckoutPlace,
    token: str,
    changes: Sequence[Change],
) -> bool:
    """Tell whether every file equals the new side of its change. Writes only a copy of the
    index."""
    with _seen(repository, user, place, token, changes) as here:
        return here.at(new=True) == {change.path for change in changes}


def is_untouched(
    repository: Repository,
    user: UserSettings,
    place: CheckoutPlace,
    token: str,
    changes: Sequence[Change],
) -> bool:
    """Tell whether every path equals the old side of its change, in the index and on disk."""
    sides = {c.path: None if c.old_mode == _NOTHING else (c.old_mode, c.old_sha) for c in changes}
    with _seen(repository, user, place, token, changes) as here:
        entries = here.entries()
        staged = {path for path, side in sides.items() if entries.get(path) == side}
        return bool(sides) and len(staged) == len(sides) and here.at(new=False) == set(sides)


@contextmanager
def _seen(
    repository: Repository,
    user: UserSettings,
    place: CheckoutPlace,
    token: str,
    changes: Sequence[Change],
) -> "Iterator[_Files]":
    """Yield the changed paths seen through a copy of the index, which is removed afterwards."""
    private = copy_index(place, token)
    try:
        yield _Files(repository, user, place, private, changes)
    finally:
        discard_index(place, token)


class _Files:
    """The changed paths as they are on disk, seen through a copy of the index."""

    def __init__(
        self,
        repository: Repository,
        user: UserSettings,
        place: CheckoutPlace,
        private: Path,
        changes: Sequence[Change],
    ) -> None:
        self._git = repository.git
        self._repository, self._user, self._checkout = repository, user, place
        self._place = git_place(repository, user, place, private)
        self._changes = changes
        self._root = os.fsencode(place.root)

    def at(self, *, new: bool) -> set[bytes]:
        """Return the paths whose files equal the new (or old) side, as git would store them."""
        sides = {
            c.path: (c.new_mode, c.new_sha) if new else (c.old_mode, c.old_sha)
            for c in self._changes
        }
        absent = {path for path, (mode, _) in sides.items() if mode == _NOTHING}
        links = {path for path, (mode, _) in sides.items() if mode == _GITLINK}
        self._index_info(sides)
        self.refresh()
        output = self._git.run(
            self._place,
            ["diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=all"],
            doing="comparing the files of the checkout",
        )
        different = set(output.split(b"\0")[1::2])
        present = {p for p in sides if p not in absent and p not in links and p not in different}
        gone = {
            p
            for p in absent
            if not os.path.lexists(join(self._root, p)) or _is_real_directory(join(self._root, p))
        }
        return present | gone | links

    def is_lost(self, change: Change) -> bool:
        """Tell whether the path has nothing of the person's: no file, or one that git was writing
        when it died."""
        full = join(self._root, change.path)
        if not os.path.lexists(full):
            return True
        if os.path.islink(full) or not os.path.isfile(full):
            return False
        for mode, sha in ((change.new_mode, change.new_sha), (change.old_mode, change.old_sha)):
            if mode not in (_NOTHING, _GITLINK) and self._begins(full, change.path, sha):
                return True
        return False

    def set_entries(self, sides: dict[bytes, tuple[str, Sha]]) -> None:
        """Set these index entries, given as path -> (mode, object id)."""
        self._index_info(sides)

    def entries(self) -> dict[bytes, tuple[str, str]]:
        """Return the index entries of the changed paths as path -> (mode, object id)."""
        output = self._git.run(self._place, ["ls-files", "-s", "-z"], doing="reading the index")
        wanted = {change.path for change in self._changes}
        found: dict[bytes, tuple[str, str]] = {}
        for line in output.split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            if path in wanted:
                mode, sha, _stage = about.decode("ascii").split(" ")
                found[path] = (mode, sha)
        return found

    def refresh(self) -> None:
        self._git.attempt(self._place, ["update-index", "-q", "--refresh"])

    def check_out(self, changes: Iterable[Change]) -> None:
        """Overwrite the files of these changes with what the index has."""
        paths = b"".join(change.path + b"\0" for change in changes)
        if paths:
            self._git.run(
                self._place,
                ["checkout-index", "-q", "-f", "-u", "-z", "--stdin"],
                doing="writing the files of the checkout",
                stdin=paths,
                env=_filter_environment(self._repository) if self._user.filters else {},
            )

    def _index_info(self, sides: dict[bytes, tuple[str, Sha]]) -> None:
        zeros = "0" * self._repository.paths.hash_size
        lines = []
        for path, (mode, sha) in sorted(sides.items(), key=lambda side: side[1][0] != _NOTHING):
            about = f"0 {zeros}" if mode == _NOTHING else f"{mode} {sha}"
            lines.append(about.encode("ascii") + b"\t" + path + b"\0")
        if lines:
            self._git.run(
                self._place,
                ["update-index", "--replace", "-z", "--index-info"],
                doing="preparing the index",
                stdin=b"".join(lines),
            )

    def _begins(self, full: bytes, path: bytes, sha: str) -> bool:
        size = os.lstat(full).st_size
        if size == 0:
            return True
        shown = os.fsdecode(path)
        done = self._git.attempt(
            self._place,
            ["cat-file", "--filters", f"--path={shown}", sha],
            env=_filter_environment(self._repository) if self._user.filters else {},
        )
        if done.returncode or size >= len(done.stdout):
            return False
        with open(full, "rb") as file:
            return file.read() == done.stdout[:size]


def _excused(
    repository: Repository, where: Place, place: CheckoutPlace, changes: Sequence[Change]
) -> set[bytes]:
    """Return the changed paths that are on disk and marked assume-unchanged or skip-worktree."""
    tracked = [c.path for c in changes if c.old_mode not in (_NOTHING, _GITLINK)]
    if not tracked:
        return set()
    few = _fit(tracked)
    arguments = ["ls-files", "-v", "-z", *(["--", *map(os.fsdecode, tracked)] if few else [])]
    output = repository.git.run(where, arguments, doing="looking at the index")
    wanted = set(tracked)
    found = set()
    for line in output.split(b"\0"):
        tag, path = line[:1], line[2:]
        special = tag.islower() or tag == b"S"
        if special and path in wanted and os.path.lexists(join(os.fsencode(place.root), path)):
            found.add(path)
    return found


def _touched(place: CheckoutPlace, changes: Sequence[Change]) -> list[str]:
    """Return the paths that matter to `changes` as arguments, none if there are too many.

    To git a directory means everything below it. So a parent of a path is named only if it is no
    directory on disk: a file there, or nothing, would be in the way or staged.
    """
    root = os.fsencode(place.root)
    paths = {change.path for change in changes}
    above = {directory for path in paths for directory in parents(path)}
    paths |= {path for path in above if not _is_real_directory(join(root, path))}
    return ["--", *map(os.fsdecode, sorted(paths))] if _fit(paths) else []


def _fit(paths: Collection[bytes]) -> bool:
    """Tell whether the paths fit on a command line (Linux limits one to about 2 MB)."""
    return len(paths) <= 500 and sum(map(len, paths)) <= 100_000


def _files_below(root: bytes, directory: bytes) -> Iterator[bytes]:
    for parent, directories, files in os.walk(join(root, directory)):
        links = [name for name in directories if os.path.islink(os.path.join(parent, name))]
        for name in [*files, *links]:
            yield os.path.relpath(os.path.join(parent, name), root)


def _is_real_directory(path: bytes) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _remove_remains(path: bytes) -> None:
    """Remove the beginning of a file that git was writing when it died."""
    try:
        os.unlink(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError):
        return


def _filter_environment(repository: Repository) -> dict[str, str]:
    """Return the variables that the person's own filters need, for example Git LFS to download."""
    wanted = ("SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "http_proxy", "https_proxy", "no_proxy")
    return {k: repository.git.environ[k] for k in wanted if k in repository.git.environ}
