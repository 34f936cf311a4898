"""``--carry``: copy the uncommitted changes of the main checkout into a new workspace.

The files are copied byte for byte. The main checkout, its index and its stash are not changed.
"""

import os

from siding.app.life.copying import copy_entry
from siding.app.place.project import Project
from siding.errors import UsageError
from siding.tasks.registry import Workspace


def carry_changes(project: Project, workspace: Workspace) -> tuple[bytes, ...]:
    """Copy all uncommitted changes into the workspace.

    Returns the files that were left out, because the filter is off that would say whether they are
    changed.
    """
    checkout = project.checkout
    if checkout is None:
        raise UsageError("a bare repository has no uncommitted changes to carry")
    root = os.fsencode(checkout.root)
    target = os.fsencode(workspace.path)
    status = project.repository.status(
        project.user_settings, checkout.root, checkout.git_dir, every_file=True
    )
    paths = sorted({*status.staged, *status.modified, *status.untracked, *status.conflicted})
    # What is gone goes first: a file may stand where a directory was, or the other way round.
    for path in sorted(paths, key=lambda path: os.path.lexists(os.path.join(root, path))):
        _carry(os.path.join(root, path), os.path.join(target, path))
    return status.unknown


def _carry(source: bytes, target: bytes) -> None:
    """Make `target` the same as `source`: a file, a symbolic link, or absent."""
    if os.path.isdir(source) and not os.path.islink(source):
        if os.path.lexists(target) and (os.path.islink(target) or not os.path.isdir(target)):
            os.unlink(target)  # the person replaced this file by a directory
        return  # a nested repository is not copied; the start card lists it
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
