"""git's record of a linked worktree: carried out of the repository and back, and made again.

A worktree is moved to another place together with its record, and no file of it is ever deleted.

A rename is one step. Where the repository and Siding's home are on two file systems it has to be a
copy, which can be cut off anywhere. So what git sees changes by one rename all the same, within the
repository's own file system:

    out:   record -> siding/going/NAME, renamed; copied to the target; what is in `going` removed
    back:  copied to siding/coming/NAME; renamed to be the record; the stored one removed

Whatever is in `going` is on its way out and whole; its copy is whole if it has its last name. A
record that came back holds a file `siding-came` until the stored one is gone. So both can be called
again after a crash at any point. If copying fails, the record is where it was.
"""

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import (
    create_bytes,
    flush_dir,
    flush_tree,
    make_dirs,
    replace_by_lock,
)
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.command import Place
from siding.ground.git.errors import BranchInUse, GitError
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha
from siding.record.worktrees.listing import admin_dir, git_dir_of, same_place, worktrees

CAME = "siding-came"
_PARTIAL = ".partial"


def detach_worktree(repository: Repository, path: Path, git_dir: Path, aside: Path) -> Path:
    """Take a worktree's registration (index, HEAD, logs, submodules' stores) out of the
    repository, to `aside`/git-dir, which is returned. The branch is free afterwards.

    The caller moves the worktree itself. Nothing is deleted or pruned; `attach_worktree` is the
    reverse. Safe to repeat after a crash at any point.
    """
    if git_dir.parent != repository.paths.common_dir / "worktrees":
        raise GitError(f"{str(git_dir)!r} is not the git directory of a linked worktree")
    named = next((i.path for i in worktrees(repository)[1:] if i.git_dir == git_dir), None)
    if named is not None and not same_place(named, path):
        raise GitError(
            f"{str(git_dir)!r} belongs to {str(named)!r}, not to {str(path)!r}",
            hint="run `siding doctor`",
        )
    target = aside / "git-dir"
    carry_out(repository, git_dir, target)
    return target


def is_registered(repository: Repository, git_dir: Path) -> bool:
    """Tell whether the repository has this record of a worktree, be it half-way out of it."""
    return os.path.lexists(git_dir) or is_going(repository, git_dir)


def attach_worktree(repository: Repository, path: Path, stored: Path) -> Path:
    """Put a registration back for the worktree that is at `path` again; returns its new place.

    Safe to repeat after a crash at any point. Raises BranchInUse when its branch has been checked
    out elsewhere meanwhile.
    """
    if (came := came_back(repository, path, stored)) is not None:
        repair_links(path, came, repository.paths.common_dir)
        end_carrying_back(came, stored)
        return came
    head = refs.read_head(stored, repository.paths.common_dir)
    refuse_branch_in_use(repository, head.branch if head else None)
    target = _place_for_registration(repository, path)
    carry_back(repository, stored, target)
    repair_links(path, target, repository.paths.common_dir)
    end_carrying_back(target, stored)
    return target


def refuse_branch_in_use(repository: Repository, branch: str | None) -> None:
    """Raise BranchInUse if a worktree of the repository has the branch checked out."""
    for other in worktrees(repository):
        if branch and other.head and other.head.branch == branch and other.path:
            raise BranchInUse(
                f"branch {branch!r} is checked out at {str(other.path)!r}",
                hint="switch that checkout to another branch first",
            )


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


def _place_for_registration(repository: Repository, path: Path) -> Path:
    """Return a free git directory for a worktree, named after it as git does."""
    linked = repository.paths.common_dir / "worktrees"
    linked.mkdir(exist_ok=True)
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in path.name)
    return free_name(linked / (name.strip(".") or "worktree"))


def is_attached(repository: Repository, path: Path, git_dir: Path) -> bool:
    """Tell whether a worktree and its git directory are there and point at each other."""
    if admin_dir(repository, path) != git_dir:
        return False
    return git_dir_of(path) == Path(os.path.realpath(git_dir))


def reattach(
    repository: Repository,
    path: Path,
    git_dir: Path,
    branch: str | None,
    base: Sha,
    *,
    left_out: Sequence[bytes] = (),
) -> str:
    """Mend the links between a worktree and its git directory, made anew if it is gone.

    A new one has the branch checked out (the base, if the branch is gone or None) and an index of
    that commit; every file stays, so what is uncommitted shows as such. The paths `left_out`, of a
    sparse checkout, do not count as deleted. Returns what was done.
    Raises BranchInUse if a new one is needed and the branch is checked out elsewhere meanwhile.
    """
    common = repository.paths.common_dir
    if (git_dir / "HEAD").is_file():
        repair_links(path, git_dir, common)
        return "mended the links between git and the workspace"
    tip = None if branch is None else repository.branch(branch)
    if tip is not None:
        refuse_branch_in_use(repository, branch)
    make_dirs(git_dir)
    head = f"ref: refs/heads/{branch}\n" if tip is not None else f"{base}\n"
    replace_by_lock(git_dir / "commondir", b"../..\n", mode=0o644)
    # HEAD comes last: without it nobody takes the directory for git's record of a worktree, so a
    # lock that is here is what was left of an earlier attempt.
    (git_dir / "index.lock").unlink(missing_ok=True)
    repository.git.run(
        Place(git_dir=common, index_file=git_dir / "index", locks=True),
        ["read-tree", tip or base],
        doing="making the index of the workspace again",
    )
    if left_out:
        # One that is not in the index any more fails; the others are marked.
        repository.git.attempt(
            Place(git_dir=common, work_tree=path, index_file=git_dir / "index", locks=True),
            ["update-index", "--skip-worktree", "-z", "--stdin"],
            stdin=b"".join(each + b"\0" for each in left_out),
        )
    replace_by_lock(git_dir / "HEAD", head.encode(), mode=0o644)
    repair_links(path, git_dir, common)
    return "made git's record of the workspace again"


def is_going(repository: Repository, git_dir: Path) -> bool:
    """Tell whether carrying this record out was cut off, so that git does not see it any more."""
    return os.path.lexists(_going(repository) / git_dir.name)


def names_going(repository: Repository) -> Iterator[str]:
    """Yield the names of the records whose way out was cut off."""
    with suppress(FileNotFoundError, NotADirectoryError):
        yield from sorted(os.listdir(_going(repository)))


def carry_out(repository: Repository, git_dir: Path, target: Path) -> None:
    """Move a record to `target`, durably. Safe to repeat after a crash at any point."""
    going = _going(repository) / git_dir.name
    if os.path.lexists(git_dir) and os.path.lexists(target):
        # An earlier version was cut off while it removed what it had copied: the rest is kept, too.
        target = free_name(target.with_name(f"{target.name}.rest"))
    make_dirs(target.parent)
    if os.path.lexists(git_dir):
        try:
            git_dir.rename(target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        else:
            flush_dir(target.parent)
            flush_dir(git_dir.parent)
            return
        make_dirs(going.parent)
        git_dir.rename(going)
        flush_dir(going.parent)
        flush_dir(git_dir.parent)
    if not os.path.lexists(going):
        return
    try:
        if not os.path.lexists(target):
            _copy(going, target)
    except OSError:
        with suppress(OSError):
            going.rename(git_dir)
        raise
    _remove(going)
    with suppress(OSError):
        going.parent.rmdir()


def carry_back(repository: Repository, stored: Path, target: Path) -> None:
    """Move a record that is stored elsewhere back into the repository, to `target`; durable.

    If it is cut off, `came_back` finds it, and `end_carrying_back` ends it.
    """
    make_dirs(target.parent)
    try:
        stored.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    else:
        flush_dir(target.parent)
        flush_dir(stored.parent)
        return
    coming = repository.paths.common_dir / "siding" / "coming" / target.name
    make_dirs(coming.parent)
    try:
        _copy(stored, coming, mark=CAME)
        coming.rename(target)
    except OSError:
        shutil.rmtree(coming, ignore_errors=True)
        raise
    flush_dir(target.parent)
    flush_dir(coming.parent)
    with suppress(OSError):
        coming.parent.rmdir()


def came_back(repository: Repository, path: Path, stored: Path) -> Path | None:
    """Return the record of the worktree at `path` if it came back and its end was cut off.

    Earlier versions made the copy where git looks, and left no mark: a copy that is not whole is
    removed, and the stored record is kept beside a whole one.
    """
    found = admin_dir(repository, path)
    if found is None or not os.path.lexists(stored) or (found / CAME).is_file():
        return found
    if found.name.endswith(_PARTIAL):
        _remove(found)
        return None
    there, here = (read_small(each / "HEAD", 8192) for each in (stored, found))
    if there not in (None, here):
        raise GitError(
            f"{str(found)!r} is git's record of another worktree at {str(path)!r}",
            hint="`git worktree prune` removes it if there is none; then try again",
        )
    stored.rename(free_name(stored.with_name(f"{stored.name}.rest")))
    return found


def end_carrying_back(git_dir: Path, stored: Path) -> None:
    """Remove the stored record of which `git_dir` is the copy. Safe to repeat."""
    if (git_dir / CAME).is_file():
        if os.path.lexists(stored):
            _remove(stored)
        (git_dir / CAME).unlink()
        flush_dir(git_dir)


def free_name(path: Path) -> Path:
    """Return the path, or the first of path1, path2, ... that is not taken."""
    candidate, number = path, 0
    while os.path.lexists(candidate):
        number += 1
        candidate = path.with_name(f"{path.name}{number}")
    return candidate


def _copy(source: Path, target: Path, mark: str = "") -> None:
    partial = target.with_name(target.name + _PARTIAL)
    shutil.rmtree(target, ignore_errors=True)
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(source, partial, symlinks=True)
    if mark:
        create_bytes(partial / mark, b"")
    flush_tree(partial)
    partial.rename(target)
    flush_dir(target.parent)


def _remove(path: Path) -> None:
    shutil.rmtree(path)
    flush_dir(path.parent)


def _going(repository: Repository) -> Path:
    return repository.paths.common_dir / "siding" / "going"
