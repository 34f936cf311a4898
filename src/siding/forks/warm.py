"""Bring ignored, expensive directories of the parent's workspace along into a fork.

They are named in the settings (`forks.warm`), none by default: a copy of 20,000 files takes seconds
where the file system cannot share blocks, and what holds absolute paths (a `.venv`) leads back into
the parent's workspace. Files are copied and never hard-linked: tools write into them in place.
"""

import os
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.files.regular import read_small
from siding.record.files.task_index import ignored_among
from siding.record.place.project import Project
from siding.record.snapshots.store import remove_tree
from siding.record.tasks.registry import Workspace
from siding.tasks.copying import copy_entry

# What such a directory is made from. All that are there must be the same in both workspaces.
_LOCK_FILES = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"),
    *("bun.lock", "bun.lockb", "pyproject.toml", "uv.lock", "poetry.lock", "pdm.lock"),
    *("Pipfile.lock", "requirements.txt", "Cargo.lock", "go.sum", "Gemfile.lock", "composer.lock"),
)
_LARGEST = 64 << 20


def warm(project: Project, parent: Workspace | None, root: Path) -> tuple[str, ...]:
    """Copy the directories that the settings name into the new workspace at `root`.

    Returns those that came along. One that is not ignored, not there, or there already does not
    count; one that cannot be copied whole is taken out again.
    """
    names = project.settings.forks_warm
    if not names or parent is None or not _are_same(Path(parent.path), root):
        return ()
    source = Path(parent.path)
    asked = [os.fsencode(name.strip("/")) for name in names]
    ignored = ignored_among(project.snapshots, parent.task_id, source, asked)
    return tuple(
        os.fsdecode(name)
        for name in asked
        if name in ignored and _copied(source / os.fsdecode(name), root / os.fsdecode(name))
    )


def _are_same(one: Path, other: Path) -> bool:
    return all(
        read_small(one / name, _LARGEST) == read_small(other / name, _LARGEST)
        for name in _LOCK_FILES
    )


def _copied(source: Path, target: Path) -> bool:
    if source.is_symlink() or not source.is_dir() or os.path.lexists(target):
        return False
    try:
        for directory, names, files in os.walk(os.fsencode(source)):
            below = os.path.relpath(directory, os.fsencode(source))
            place = os.path.join(os.fsencode(target), below)
            os.makedirs(place, exist_ok=True)
            links = [name for name in names if os.path.islink(os.path.join(directory, name))]
            for name in (*files, *links):
                copy_entry(os.path.join(directory, name), os.path.join(place, name))
    except (SidingError, OSError):  # somebody changes it, or the disk is full: the fork goes cold
        remove_tree(target)
        return False
    return True
