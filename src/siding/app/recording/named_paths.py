"""The PATHs of a command line, as the snapshots of a task have them.

A PATH is relative to where the person stands, as with every other program. In a subdirectory of the
checkout it means the same place in the workspace, which is where `siding run` would run, too.
"""

import os
from collections.abc import Sequence

from siding.app.place.project import Project
from siding.errors import NotFound, UsageError
from siding.git.paths import is_under, quote_path
from siding.git.snapshots.patches import paths_in_tree
from siding.git.snapshots.store import SnapshotStore
from siding.ids import Sha
from siding.tasks.registry import Workspace


def named_paths(project: Project, workspace: Workspace, names: Sequence[str]) -> tuple[bytes, ...]:
    """Return the PATHs below the workspace's root; nothing when one of them is the root.

    Raises UsageError for one that is in neither the workspace nor the checkout.
    """
    paths = tuple(below_workspace(project, workspace, name) for name in names)
    return () if b"" in paths else paths


def below_workspace(project: Project, workspace: Workspace, named: str) -> bytes:
    """Return one PATH relative to the workspace's root, ``b""`` for the root itself."""
    roots = _roots(project, workspace)
    path = os.path.normpath(os.path.join(_start(project, roots), named))
    if os.path.isabs(named):  # its directory may be reached through a link
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    for root in roots:
        if is_under(os.fsencode(path), os.fsencode(root)):
            below = os.path.relpath(path, root)
            return b"" if below == os.curdir else os.fsencode(below)
    raise UsageError(
        f"{named!r} is in neither the workspace {workspace.path!r} nor your checkout",
        hint="name paths from where you stand, or from the workspace's root",
    )


def refuse_unknown(store: SnapshotStore, states: Sequence[Sha], paths: Sequence[bytes]) -> None:
    """Raise NotFound for a path that is in none of the states (snapshots or trees)."""
    missing = set(paths)
    for state in states:
        if not missing:
            return
        missing -= paths_in_tree(store, state, sorted(missing))
    if missing:
        first = quote_path(min(missing))
        number = first.rpartition("/")[2]
        raise NotFound(
            f"there is no {first!r} in the task: not before and not after what is compared",
            hint=f"`--step {number}` names a step"
            if number.isdigit()
            else "PATHs are relative to where you stand; ignored files are not recorded",
        )


def _roots(project: Project, workspace: Workspace) -> list[str]:
    """Return the directories in which a PATH may lie: the workspace, and the person's checkout."""
    roots = [os.path.realpath(workspace.path)]
    if project.checkout is not None:
        roots.append(os.path.realpath(project.checkout.root))
    return roots


def _start(project: Project, roots: Sequence[str]) -> str:
    """Return where a relative PATH begins: where the person stands, else the workspace's root."""
    here = os.path.realpath(project.app.cwd)
    inside = any(is_under(os.fsencode(here), os.fsencode(root)) for root in roots)
    return here if inside else roots[0]
