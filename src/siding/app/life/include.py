"""``.worktreeinclude``: copy ignored files that a new workspace needs, such as ``.env``.

The file has gitignore syntax and is at the root of the main checkout. A file is copied if a pattern
matches it *and* git ignores it: tracked files are in the workspace anyway, and untracked files are
copied by ``--carry``.
"""

import os
from pathlib import Path

from siding.app.life.copying import copy_entry
from siding.app.place.project import Project
from siding.app.place.wiring import outside_home
from siding.git.snapshots.ignored import ignored_matching
from siding.tasks.registry import Workspace

INCLUDE_FILE = ".worktreeinclude"


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
