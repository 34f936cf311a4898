"""Carry git's record of a worktree out of the repository and back, also to another file system.

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
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import create_bytes, flush_dir, flush_tree, make_dirs
from siding.ground.files.regular import read_small
from siding.ground.git.errors import GitError
from siding.ground.git.repository import Repository
from siding.record.worktrees.listing import admin_dir

CAME = "siding-came"
_PARTIAL = ".partial"


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
