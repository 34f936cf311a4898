"""What of the checkout comes along into a new workspace: ``--carry`` and ``.worktreeinclude``.

``--carry`` copies the uncommitted changes, byte for byte. The checkout, its index and its stash are
not changed. ``.worktreeinclude``, at the root of the checkout and with the syntax of gitignore,
selects ignored files that the workspace needs, such as ``.env``: tracked files are there anyway,
and untracked ones come with ``--carry``.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from siding.ground.errors import UsageError
from siding.ground.git.discovery import common_directory, linked_roots, read_git_file
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Checkout, Project
from siding.record.place.wiring import outside_home
from siding.record.snapshots.ignored import ignored_matching
from siding.record.tasks.registry import Workspace
from siding.tasks.copying import copy_entry

INCLUDE_FILE = ".worktreeinclude"


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
