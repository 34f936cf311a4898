"""Create, list, move aside and bring back linked worktrees of the user's repository.

git killed half way through `worktree add` leaves a branch, a lock, and a half-made directory on
which `git fsck` fails. So the caller writes down what is to be made (path, branch, base) before
calling `add_worktree`, and after a crash `undo_add` takes back exactly that. Nothing here deletes
files: directories are renamed to where the caller says. `git worktree remove` is never used: it
deletes ignored files without a word.
"""

import errno
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from siding.files.durable import flush_dir, flush_file, flush_tree, make_dirs, replace_by_lock
from siding.files.regular import read_small
from siding.git import refs
from siding.git.command import EMAIL, IDENTITY, Place, output_of
from siding.git.discovery import read_git_file
from siding.git.errors import BranchExists, BranchInUse, CommandFailed, GitError
from siding.git.refs import Head
from siding.git.repository import Repository
from siding.git.settings import UserSettings
from siding.ids import Sha
from siding.namedtuples import NamedTuple

_ATTEMPTS = 5
_PAUSE_S = 0.05


class AddedWorktree(NamedTuple):
    """A worktree that was made and filled. ``git_dir`` is its directory in the repository.

    ``pristine``: the bytes on disk are the blobs' bytes for all the configuration says (only
    attributes in the commit could still have changed them). ``notes`` are for people.
    """

    path: Path
    git_dir: Path
    pristine: bool
    notes: tuple[str, ...]


class WorktreeInfo(NamedTuple):
    """A worktree as the repository knows it. ``git_dir`` is the common one for the main worktree;
    ``path`` is None when the repository does not say where it is (half-made)."""

    path: Path | None
    git_dir: Path
    main: bool
    head: Head | None
    locked: str | None


def add_worktree(
    repository: Repository,
    path: Path,
    branch: str,
    base: Sha,
    *,
    user: UserSettings,
    workers: int = 2,
    keep_fds: Sequence[int] = (),
) -> AddedWorktree:
    """Make a branch at `base` and a worktree of it at `path`, which must not be there.

    The caller serialises calls for one repository (git's own races fail most of them otherwise)
    and has written down what it asks for. Raises BranchExists, or GitError when the path is
    taken. After any failure `undo_add` takes back what was made.
    """
    refs.check_ref_part(branch)
    if os.path.lexists(path):
        raise GitError(f"{str(path)!r} is there already", hint="choose another place")
    _register(repository, path, branch, base, keep_fds)
    git_dir = admin_dir(repository, path)
    if git_dir is None:
        raise GitError(f"git made no worktree at {str(path)!r}")
    notes = _fill(repository, path, git_dir, user=user, workers=workers, keep_fds=keep_fds)
    _flush(repository, path, git_dir, branch)
    return AddedWorktree(path=path, git_dir=git_dir, pristine=not user.converts, notes=notes)


def go_on_to(
    repository: Repository,
    added: AddedWorktree,
    base: Sha,
    start: Sha,
    *,
    user: UserSettings,
    workers: int = 2,
) -> None:
    """Take a worktree that was just made at `base`, and its branch, on to the commit `start`.

    Durable but for the files. After any failure `undo_add` takes back what was made, if it is told
    of `start`.
    """
    trees = (base, start)
    _fill(repository, added.path, added.git_dir, trees=trees, user=user, workers=workers)
    repository.git.run(
        Place(
            git_dir=added.git_dir,
            common_dir=repository.paths.common_dir,
            settings=("core.logAllRefUpdates=always",),
        ),
        ["update-ref", "-m", "siding: start", "HEAD", start, base],
        doing="taking the branch of the task to where it starts",
    )
    flush_tree(added.git_dir)


def admin_dir(repository: Repository, path: Path) -> Path | None:
    """Return the git directory of the worktree at `path`, as the repository has it.

    The worktree's own `.git` file is not asked: it lies where the agent writes.
    """
    return next(
        (i.git_dir for i in worktrees(repository)[1:] if i.path and _same(i.path, path)), None
    )


def git_dir_of(path: Path) -> Path | None:
    """Return the git directory that a worktree's `.git` file names; None when there is none.

    The file lies where the agent writes: compare with what was recorded before trusting it.
    """
    target = read_git_file(path / ".git")
    return None if target is None else Path(os.path.realpath(target))


def worktrees(repository: Repository) -> list[WorktreeInfo]:
    """Return all worktrees the repository knows of, the main one first. Starts no process."""
    paths = repository.paths
    found = [
        WorktreeInfo(
            path=paths.main_worktree,
            git_dir=paths.common_dir,
            main=True,
            head=refs.read_head(paths.common_dir, paths.common_dir),
            locked=None,
        )
    ]
    linked = paths.common_dir / "worktrees"
    names = sorted(os.listdir(linked)) if linked.is_dir() else []
    for name in names:
        git_dir = linked / name
        pointer = read_small(git_dir / "gitdir", 8192)
        locked = read_small(git_dir / "locked", 8192)
        if pointer and b"\0" in pointer:  # a power cut kept its size and lost its bytes
            pointer = None
        place = os.fsdecode(pointer.strip(b"\r\n")) if pointer else ""
        if place:  # relative to the git directory with `worktree.useRelativePaths` of git 2.48
            place = os.path.normpath(git_dir / place)
        found.append(
            WorktreeInfo(
                path=Path(place).parent if place else None,
                git_dir=git_dir,
                main=False,
                head=refs.read_head(git_dir, paths.common_dir),
                locked=None if locked is None else locked.decode("utf-8", "replace").strip(),
            )
        )
    return found


def undo_add(
    repository: Repository,
    path: Path,
    branch: str,
    base: Sha,
    *,
    aside: Path,
    start: Sha | None = None,
) -> list[str]:
    """Take back an `add_worktree` that did not come to its end; returns what was done.

    The directory and its registration are renamed into `aside` (made if needed), never deleted:
    whatever was written there is still there. The branch is deleted if `add_worktree` made it
    and it has not moved since, but to `start`. Safe to repeat. The caller serialises per
    repository.
    """
    done: list[str] = []
    for git_dir in _registrations(repository, path):
        _move(git_dir, _free(aside / "git-dir"))
        done.append(f"took the registration {git_dir.name!r} aside")
    if os.path.lexists(path):
        _move(path, _free(aside / "workspace"))
        done.append(f"took {str(path)!r} aside")
    if _delete_own_branch(repository, branch, base, start or base):
        done.append(f"deleted branch {branch!r}")
    return done


def detach_worktree(repository: Repository, path: Path, git_dir: Path, aside: Path) -> Path:
    """Take a worktree's registration (index, HEAD, logs, submodules' stores) out of the
    repository, to `aside`/git-dir, which is returned. The branch is free afterwards.

    The caller moves the worktree itself. Nothing is deleted or pruned; `attach_worktree` is the
    reverse.
    """
    if git_dir.parent != repository.paths.common_dir / "worktrees":
        raise GitError(f"{str(git_dir)!r} is not the git directory of a linked worktree")
    named = next((i.path for i in worktrees(repository)[1:] if i.git_dir == git_dir), None)
    if named is not None and not _same(named, path):
        raise GitError(
            f"{str(git_dir)!r} belongs to {str(named)!r}, not to {str(path)!r}",
            hint="run `siding doctor`",
        )
    target = aside / "git-dir"
    if os.path.lexists(target):
        raise GitError(f"{str(target)!r} is in the way")
    _move(git_dir, target)
    return target


def attach_worktree(repository: Repository, path: Path, stored: Path) -> Path:
    """Put a registration back for the worktree that is at `path` again; returns its new place.

    Raises BranchInUse when its branch has been checked out elsewhere meanwhile.
    """
    head = refs.read_head(stored, repository.paths.common_dir)
    _refuse_branch_in_use(repository, head.branch if head else None)
    target = _place_for_registration(repository, path)
    _move(stored, target)
    repair_links(path, target, repository.paths.common_dir)
    return target


def repair_links(path: Path, git_dir: Path, common_dir: Path) -> None:
    """Make a worktree and its git directory point at each other where they are now, after the
    repository, the home or the worktree was moved."""
    pointer = path / ".git"
    if pointer.is_dir() and not pointer.is_symlink():
        raise GitError(
            f"{str(pointer)!r} is a directory: somebody made a repository of the workspace",
            hint="move it away, then run `siding doctor` again",
        )
    common = os.path.relpath(common_dir, git_dir)
    replace_by_lock(git_dir / "commondir", os.fsencode(common) + b"\n", mode=0o644)
    replace_by_lock(git_dir / "gitdir", os.fsencode(pointer) + b"\n", mode=0o644)
    replace_by_lock(pointer, b"gitdir: " + os.fsencode(git_dir) + b"\n", mode=0o644)


def _delete_own_branch(repository: Repository, branch: str, base: Sha, start: Sha) -> bool:
    """Delete a branch that `add_worktree` made and nobody has moved since, but to `start`.

    Its log tells: every entry was written under our name, and says one of these commits. A branch
    of the same name that the user made is another one, even if it points at the same commit. A log
    that a power cut emptied says nothing; then the name, which holds the task's id, and the commit
    do.
    """
    present = repository.branch(branch)
    if present not in (None, base, start):
        return False
    # A git that was killed leaves its lock; the name is ours, and the caller holds the lock.
    # A branch of the name of its directory makes that a file: then there is no lock either.
    with suppress(FileNotFoundError, NotADirectoryError):
        (repository.paths.common_dir / f"refs/heads/{branch}.lock").unlink()
    log = repository.git.attempt(
        Place(git_dir=repository.paths.common_dir),
        ["log", "-g", "-n20", "--format=%gn <%ge> %H", f"refs/heads/{branch}", "--"],
    )
    entries = set(log.stdout.decode("utf-8", "replace").splitlines())
    if not entries and present is None:
        return False
    if not entries <= {f"{IDENTITY} <{EMAIL}> {commit}" for commit in (base, start)}:
        return False
    return repository.delete_branch(branch, present or base)


def _register(
    repository: Repository, path: Path, branch: str, base: Sha, keep_fds: Sequence[int]
) -> None:
    """Let git make the branch, its directory and the `.git` file, with no files yet."""
    arguments = ["worktree", "add", "-q", "--no-checkout", "--no-track", "-b", branch, "--"]
    # The branch's log, which tells it from one of the user's, is wanted in a bare one as well.
    settings = ("core.logAllRefUpdates=always",)
    place = Place(git_dir=repository.paths.common_dir, settings=settings)
    for attempt in range(_ATTEMPTS):
        if repository.branch(branch) is not None:
            raise BranchExists(
                f"there is a branch {branch!r} already", hint="choose another name for the task"
            )
        done = repository.git.attempt(place, [*arguments, str(path), base], keep_fds=keep_fds)
        if done.returncode == 0:
            return
        if attempt == _ATTEMPTS - 1 or not _unmake(repository, path, branch, base):
            output_of(done, doing="making the worktree")
        time.sleep(_PAUSE_S * (attempt + 1))  # another git of the user's was in the way


def _unmake(repository: Repository, path: Path, branch: str, base: Sha) -> bool:
    """Remove what a failed registration left, if it has no files; return whether all is gone."""
    import shutil  # and with it three compressors: not for every command that knows worktrees

    for git_dir in _registrations(repository, path):
        shutil.rmtree(git_dir, ignore_errors=True)  # it never had a worktree with files
    try:
        (path / ".git").unlink(missing_ok=True)
        path.rmdir()
    except FileNotFoundError:
        pass
    except OSError:
        return False
    _delete_own_branch(repository, branch, base, base)
    return not os.path.lexists(path)


def _fill(
    repository: Repository,
    path: Path,
    git_dir: Path,
    *,
    user: UserSettings,
    workers: int,
    keep_fds: Sequence[int] = (),
    trees: Sequence[str] = ("HEAD",),
) -> tuple[str, ...]:
    """Check the files of the last tree out, several at a time; of two, from the one before it."""
    checkout = Checkout(repository, path, git_dir, None, user, workers)
    write_files(checkout, *trees, keep_fds=keep_fds)
    notes = [
        f"filter {name!r} is not installed: its files are left as they are in the repository"
        for name in sorted(user.missing_filters)
    ]
    return tuple(notes)


class Checkout(NamedTuple):
    """Where the files of a commit are to be written, and how.

    ``git_dir`` is that of a worktree, whose sparse checkout counts. ``index_file`` is another index
    than the worktree's own, if it is not None.
    """

    repository: Repository
    path: Path
    git_dir: Path
    index_file: Path | None
    user: UserSettings
    workers: int = 2


def write_files(checkout: Checkout, *trees: str, keep_fds: Sequence[int] = ()) -> None:
    """Write the files of the last tree as the user's git would; raises CommandFailed.

    They are brought there from what the index holds, or from the tree before it if there are two.
    """
    repository, user = checkout.repository, checkout.user
    place = Place(
        git_dir=checkout.git_dir,
        common_dir=repository.paths.common_dir,
        work_tree=checkout.path,
        index_file=checkout.index_file,
        locks=True,
        settings=(
            *user.settings,
            f"checkout.workers={max(2, checkout.workers)}",
            "checkout.thresholdForParallelism=100",
            "index.version=2",
            "index.sparse=false",
            # What a checkout writes can be had again from the commit.
            "core.fsync=none",
            "core.fsyncObjectFiles=false",
        ),
    )
    env = _filter_environment(repository) if user.filters else {}
    done = repository.git.attempt(
        place, ["read-tree", "-m", "-u", *trees], keep_fds=keep_fds, env=env
    )
    if done.returncode:
        hint = None
        if repository.is_partial():
            hint = "this is a partial clone: `git checkout` the base once, so that its files come"
        failed = CommandFailed("checking the files out", done.argv, done.returncode, done.stderr)
        failed.hint = hint
        raise failed


def _flush(repository: Repository, path: Path, git_dir: Path, branch: str) -> None:
    """Make the registration durable: git flushes none of it, and without it there is no worktree.

    Not the files: what a power cut leaves of them is seen as a change, and the commit has them.
    """
    flush_tree(git_dir)
    flush_dir(git_dir.parent)
    log = repository.paths.common_dir / "logs/refs/heads" / branch
    for file in (path / ".git", log):
        if file.is_file():
            flush_file(file)
            flush_dir(file.parent)
    flush_dir(path.parent)


def _filter_environment(repository: Repository) -> dict[str, str]:
    """Let the user's own filters find what they need to fetch content (Git LFS does)."""
    wanted = ("SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "http_proxy", "https_proxy", "no_proxy")
    return {k: repository.git.environ[k] for k in wanted if k in repository.git.environ}


def _registrations(repository: Repository, path: Path) -> list[Path]:
    """Return the git directories in the repository that were made for a worktree at `path`."""
    return [
        info.git_dir
        for info in worktrees(repository)[1:]
        if (info.path and _same(info.path, path))
        or (info.path is None and _made_for(info.git_dir.name, path.name))
    ]


def _same(one: Path, other: Path) -> bool:
    """Tell whether two names lead to one place: git writes down a path with its links resolved."""
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def _made_for(name: str, wanted: str) -> bool:
    """Tell whether git may have given a worktree's registration this name: the worktree's own, or
    that with a number if it was taken."""
    return name == wanted or (name.startswith(wanted) and name[len(wanted) :].isdigit())


def _refuse_branch_in_use(repository: Repository, branch: str | None) -> None:
    for other in worktrees(repository):
        if branch and other.head and other.head.branch == branch and other.path:
            raise BranchInUse(
                f"branch {branch!r} is checked out at {str(other.path)!r}",
                hint="switch that checkout to another branch first",
            )


def _place_for_registration(repository: Repository, path: Path) -> Path:
    """Return a free git directory for a worktree, named after it as git does."""
    linked = repository.paths.common_dir / "worktrees"
    linked.mkdir(exist_ok=True)
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in path.name)
    return _free(linked / (name.strip(".") or "worktree"))


def _free(path: Path) -> Path:
    """Return the path, or the first of path1, path2, ... that is not taken."""
    candidate, number = path, 0
    while os.path.lexists(candidate):
        number += 1
        candidate = path.with_name(f"{path.name}{number}")
    return candidate


def _move(source: Path, target: Path) -> None:
    """Rename durably; across file systems copy all, flush, and only then remove the source."""
    make_dirs(target.parent)
    try:
        source.rename(target)
    except OSError as error:
        import shutil

        if error.errno != errno.EXDEV:
            raise
        partial = target.with_name(target.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(source, partial, symlinks=True)
        flush_tree(partial)
        partial.rename(target)
        flush_dir(target.parent)
        shutil.rmtree(source)
    flush_dir(target.parent)
    flush_dir(source.parent)
