"""Create linked worktrees of the user's repository, and take back one that was half made.

git killed half way through `worktree add` leaves a branch, a lock, and a half-made directory on
which `git fsck` fails. So the caller writes down what is to be made (path, branch, base) before
calling `add_worktree`, and after a crash `undo_add` takes back exactly that. Nothing here deletes
files: directories are renamed to where the caller says. `git worktree remove` is never used: it
deletes ignored files without a word.

The files of the commit are written with the user's filters and line endings. Worktrees of forks and
views have no branch (`register_detached`).
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import flush_dir, flush_file, flush_tree, make_dirs, move_aside
from siding.ground.git import refs
from siding.ground.git.command import EMAIL, IDENTITY, Place, output_of
from siding.ground.git.errors import BranchExists, CommandFailed, GitError
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings, filter_environment, settings_in
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.worktrees.listing import admin_dir, made_for, registrations
from siding.record.worktrees.registration import carry_out, free_name, names_going

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


def add_worktree(
    repository: Repository,
    path: Path,
    branch: str,
    base: Sha,
    *,
    user: UserSettings,
    like: Path | None = None,
    workers: int = 2,
    keep_fds: Sequence[int] = (),
) -> AddedWorktree:
    """Make a branch at `base` and a worktree of it at `path`, which must not be there.

    It is as sparse as the worktree whose git directory is `like`; None: as the main one.
    The caller serialises calls for one repository (git's own races fail most of them otherwise)
    and has written down what it asks for. Raises BranchExists, or GitError when the path is
    taken. After any failure `undo_add` takes back what was made.
    """
    refs.check_ref_part(branch)
    if os.path.lexists(path):
        raise GitError(f"{str(path)!r} is there already", hint="choose another place")
    place = Place(
        git_dir=like or repository.paths.common_dir,
        common_dir=repository.paths.common_dir,
        # The branch's log, which tells it from one of the user's, is wanted in a bare one as well.
        settings=("core.logAllRefUpdates=always",),
    )
    _register(repository, place, path, branch, base, keep_fds)
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
    linked = repository.paths.common_dir / "worktrees"
    going = [linked / name for name in names_going(repository) if made_for(name, path.name)]
    for git_dir in (*registrations(repository, path), *going):
        carry_out(repository, git_dir, free_name(aside / "git-dir"))
        done.append(f"took the registration {git_dir.name!r} aside")
    if os.path.lexists(path):
        make_dirs(aside)
        move_aside(path, free_name(aside / "workspace"))
        done.append(f"took {str(path)!r} aside")
    if _delete_own_branch(repository, branch, base, start or base):
        done.append(f"deleted branch {branch!r}")
    return done


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
    repository: Repository,
    place: Place,
    path: Path,
    branch: str,
    base: Sha,
    keep_fds: Sequence[int],
) -> None:
    """Let git make the branch, its directory and the `.git` file, with no files yet.

    git 2.36 and newer copies the settings and the sparse rules of the worktree of `place`.
    """
    arguments = ["worktree", "add", "-q", "--no-checkout", "--no-track", "-b", branch, "--"]
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

    for git_dir in registrations(repository, path):
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
            *settings_in(repository.git, user, checkout.git_dir),
            f"checkout.workers={max(2, checkout.workers)}",
            "checkout.thresholdForParallelism=100",
            "index.version=2",
            "index.sparse=false",
            # What a checkout writes can be had again from the commit.
            "core.fsync=none",
            "core.fsyncObjectFiles=false",
        ),
    )
    env = filter_environment(repository.git, user)
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


def register_detached(repository: Repository, path: Path, commit: Sha, *, like: Path) -> Path:
    """Let git make the directory and its record of a worktree, with no files yet.

    It is as sparse as the worktree whose git directory is `like`.
    Returns the worktree's git directory. The last part of `path` must be a name that no worktree
    of the repository has. The caller serialises calls for one repository.
    """
    repository.git.run(
        Place(git_dir=like, common_dir=repository.paths.common_dir),
        ["worktree", "add", "-q", "--no-checkout", "--detach", "--", str(path), commit],
        doing="making a worktree for a fork",
    )
    git_dir = repository.paths.common_dir / "worktrees" / path.name
    if not (git_dir / "HEAD").is_file():
        raise GitError(f"git made no worktree at {str(path)!r}")
    return git_dir


def fill_detached(
    repository: Repository, path: Path, git_dir: Path, *, user: UserSettings, workers: int
) -> None:
    """Write the files of the commit, as the user's git would; make the record durable."""
    write_files(Checkout(repository, path, git_dir, None, user, workers), "HEAD")
    flush_tree(git_dir)
    flush_dir(git_dir.parent)
    flush_file(path / ".git")
    flush_dir(path)
    flush_dir(path.parent)
