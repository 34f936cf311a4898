"""Convert the PATHs of a command line to paths in the snapshots of a task.

A PATH is relative to the working directory, as in other programs. In a subdirectory of the checkout
it means the same path in the workspace; `siding run` would run there as well.
"""

import os
from collections.abc import Sequence

from siding.ground.errors import NotFound, UsageError
from siding.ground.git.paths import is_under, quote_path
from siding.ground.ids import Sha
from siding.record.place.project import Project
from siding.record.snapshots.store import SnapshotStore
from siding.record.tasks.registry import Workspace


def named_paths(project: Project, workspace: Workspace, names: Sequence[str]) -> tuple[bytes, ...]:
    """Return the PATHs relative to the workspace's root; () if one of them is the root itself.

    Raises UsageError for a path that is in neither the workspace nor the checkout.
    """
    paths = tuple(below_workspace(project, workspace, name) for name in names)
    return () if b"" in paths else paths


def below_workspace(project: Project, workspace: Workspace, named: str) -> bytes:
    """Return one PATH relative to the workspace's root; ``b""`` for the root itself."""
    roots = _roots(project, workspace)
    path = os.path.normpath(os.path.join(_start(project, roots), named))
    # Symbolic links in the directory part are resolved, because the roots are resolved as well. The
    # last part is not: it may be a link that is recorded itself.
    if os.path.isabs(named):
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
    """Raise NotFound for a path that is in none of `states`, which are snapshots or trees."""
    from siding.record.snapshots.patches import paths_in_tree

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
    """Return the directories that a PATH may be in: the workspace and the person's checkout."""
    roots = [os.path.realpath(workspace.path)]
    if project.checkout is not None:
        roots.append(os.path.realpath(project.checkout.root))
    return roots


def _start(project: Project, roots: Sequence[str]) -> str:
    """Return the directory that a relative PATH starts from.

    It is the working directory if this is inside one of `roots`, else the workspace's root.
    """
    here = os.path.realpath(project.app.cwd)
    inside = any(is_under(os.fsencode(here), os.fsencode(root)) for root in roots)
    return here if inside else roots[0]
