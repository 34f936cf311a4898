"""What of the checkout comes along into a new workspace: ``--carry`` and ``.worktreeinclude``.

``--carry`` copies the uncommitted changes, byte for byte. The checkout, its index and its stash are
not changed. ``.worktreeinclude``, at the root of the checkout and with the syntax of gitignore,
selects ignored files that the workspace needs, such as ``.env``: tracked files are there anyway,
and untracked ones come with ``--carry``. File systems that can do so share the blocks of copies.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from siding.ground.errors import UsageError
from siding.ground.files.durable import write_all
from siding.ground.git.command import Place, output_of
from siding.ground.git.discovery import common_directory, linked_roots, read_git_file
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Checkout, Project
from siding.record.place.wiring import outside_home
from siding.record.tasks.registry import Workspace

INCLUDE_FILE = ".worktreeinclude"
FICLONE = 0x40049409  # from linux/fs.h: let one file share the blocks of another
# Each of these means that blocks cannot be shared here; which one depends on the file system.
_NO_REFLINK = {
    errno.EOPNOTSUPP,
    errno.ENOTTY,
    errno.EXDEV,
    errno.EINVAL,
    errno.ENOSYS,
    errno.EPERM,
    errno.ETXTBSY,
}


class LeftOut(NamedTuple):
    """What is not carried: repositories inside the checkout, and files of which nobody can say
    whether they are changed, since the filter is off that would say it."""

    nested: list[bytes]
    unknown: tuple[bytes, ...]


def require_checkout(project: Project) -> Checkout:
    """Return the checkout whose changes are carried; raise UsageError if there is none."""
    checkout = project.checkout
    if checkout is None:
        places = linked_roots(project.paths.common_dir)
        yours = next((each for each in places if project.task_around(each) is None), None)
        raise UsageError(
            "--carry takes the uncommitted changes of a checkout along, and this is none: the "
            f"repository {str(project.paths.root)!r} is bare",
            hint="leave --carry out"
            if yours is None
            else f"leave --carry out, or go to one of its worktrees: {yours}",
        )
    return checkout


def nested_repositories(checkout: Checkout, untracked: Iterable[bytes]) -> list[bytes]:
    """Return the repositories inside a checkout: they are not carried.

    Other worktrees of the checkout's own repository are left out; nobody expects them to be.
    """
    common = os.path.realpath(common_directory(checkout.git_dir))
    found = []
    for path in untracked:
        place = checkout.root / os.fsdecode(path) / ".git"
        if path.endswith(b"/") and os.path.lexists(place):
            target = read_git_file(place)
            if target is None or os.path.realpath(common_directory(target)) != common:
                found.append(path)
    return found


def carry_changes(project: Project, workspace: Workspace) -> LeftOut:
    """Copy all uncommitted changes into the workspace; return what was left out."""
    checkout = require_checkout(project)
    root = os.fsencode(checkout.root)
    target = os.fsencode(workspace.path)
    status = project.repository.status(
        project.user_settings, checkout.root, checkout.git_dir, every_file=True
    )
    changed = {*status.staged, *status.modified, *status.untracked, *status.conflicted}
    paths = sorted(outside_home(project.app, checkout.root, changed))
    # What is gone goes first: a file may stand where a directory was, or the other way round.
    for path in sorted(paths, key=lambda path: os.path.lexists(os.path.join(root, path))):
        _carry(os.path.join(root, path), os.path.join(target, path))
    nested = nested_repositories(
        checkout, outside_home(project.app, checkout.root, status.untracked)
    )
    return LeftOut(nested=nested, unknown=status.unknown)


def _carry(source: bytes, target: bytes) -> None:
    """Make `target` the same as `source`: a file, a symbolic link, or absent."""
    if os.path.isdir(source) and not os.path.islink(source):
        if os.path.lexists(target) and (os.path.islink(target) or not os.path.isdir(target)):
            os.unlink(target)  # the person replaced this file by a directory
        return  # a repository of its own is not copied; the start card names it
    if not os.path.lexists(source):
        if os.path.lexists(target) and not (os.path.isdir(target) and not os.path.islink(target)):
            os.unlink(target)
        return
    if os.path.isdir(target) and not os.path.islink(target):
        # The person replaced this directory by a file.
        _remove_empty(target)
    copy_entry(source, target)


def _remove_empty(directory: bytes) -> None:
    for parent, directories, _files in os.walk(directory, topdown=False):
        for name in directories:
            os.rmdir(os.path.join(parent, name))
    os.rmdir(directory)


def copy_included(project: Project, workspace: Workspace) -> list[bytes]:
    """Copy the files that ``.worktreeinclude`` selects; return their relative paths."""
    checkout = project.checkout
    if checkout is None or not (checkout.root / INCLUDE_FILE).is_file():
        return []
    root, target = os.fsencode(checkout.root), os.fsencode(Path(workspace.path))
    copied: list[bytes] = []
    matching = ignored_matching(
        project.repository,
        project.user_settings,
        checkout.root,
        checkout.git_dir,
        checkout.root / INCLUDE_FILE,
    )
    for path in outside_home(project.app, checkout.root, matching):
        destination = os.path.join(target, path)
        if os.path.lexists(destination):
            continue
        try:
            if copy_entry(os.path.join(root, path), destination):
                copied.append(path)
        except FileNotFoundError:
            continue  # deleted after git listed it
    return copied


def copy_entry(source: bytes, target: bytes) -> bool:
    """Copy a file or symbolic link with its mode and times; return False for anything else.

    Parent directories of `target` are made, and an existing file is replaced. Raises
    IsADirectoryError if `target` is a directory.
    """
    found = os.lstat(source)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if stat.S_ISLNK(found.st_mode):
        _unlink(target)
        os.symlink(os.readlink(source), target)
        return True
    if not stat.S_ISREG(found.st_mode):
        return False
    _unlink(target)
    _copy_file(source, target, stat.S_IMODE(found.st_mode))
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
    return True


def _copy_file(source: bytes, target: bytes, mode: int) -> None:
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        writing = os.open(target, flags, 0o600)
        try:
            if not _reflinked(reading, writing):
                _copy_bytes(reading, writing)
            os.fchmod(writing, mode)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _reflinked(reading: int, writing: int) -> bool:
    try:
        fcntl.ioctl(writing, FICLONE, reading)
    except OSError as error:
        if error.errno in _NO_REFLINK:
            return False
        raise
    return True


def _copy_bytes(reading: int, writing: int) -> None:
    while block := os.read(reading, 1 << 20):
        write_all(writing, block)


def _unlink(path: bytes) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def ignored_matching(
    repository: Repository, user: UserSettings, worktree: Path, git_dir: Path, patterns: Path
) -> list[bytes]:
    """Return the files that git ignores and that `patterns` (gitignore syntax) matches, sorted."""
    place = Place(
        git_dir=git_dir,
        common_dir=repository.paths.common_dir,
        work_tree=worktree,
        settings=user.settings,
    )
    listing = ["ls-files", "--others", "--ignored", "-z", f"--exclude-from={patterns}"]
    doing = "looking for ignored files to take along"
    named = repository.git.run(place, listing, doing=doing)
    if not named:
        return []
    # "./" keeps a name that starts with ":" from being read as a pathspec's magic.
    asked = b"".join(b"./" + path + b"\0" for path in named.split(b"\0")[:-1])
    done = repository.git.attempt(
        place,
        ["check-ignore", "-z", "--stdin"],
        stdin=asked,
        env={"GIT_LITERAL_PATHSPECS": "0"},
    )
    if done.returncode != 1:  # 1: git ignores none of them
        output_of(done, doing=doing)
    return sorted(path.removeprefix(b"./") for path in done.stdout.split(b"\0")[:-1])
