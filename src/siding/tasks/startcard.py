"""The start card: what a new workspace contains, and what it lacks.

Agents and people assume that a workspace has everything that the checkout has. The card lists the
differences. It is stored with the task, and ``siding task show`` prints it.
"""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.ground.clock import iso
from siding.ground.files.regular import read_small
from siding.ground.git.command import Place
from siding.ground.git.paths import parents, quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.wiring import outside_home
from siding.record.tasks.registry import Workspace
from siding.tasks.carry import nested_repositories

if TYPE_CHECKING:
    from siding.ground.git.drivers import PathClass

LISTED = 50  # the most names of each kind that the card stores


class StartCard(NamedTuple):
    """The content of a new workspace. Lists have at most `LISTED` names; counts are complete."""

    base_ref: str
    base_commit: Sha
    base_subject: str
    base_time: str
    carried: bool  # the uncommitted changes were copied by --carry
    left_out: tuple[str, ...]  # uncommitted files of the main checkout that were not copied
    left_out_count: int
    submodules: tuple[str, ...]  # present as empty directories
    lfs: str  # "none", "files" (contents checked out) or "pointers"
    sparse: bool
    shallow: bool
    missing: tuple[str, ...]  # ignored files and directories of the main checkout, not copied
    missing_count: int
    partly: tuple[str, ...]  # ignored directories of which .worktreeinclude copied only a part
    included: tuple[str, ...]  # copied by .worktreeinclude
    included_count: int
    off: tuple[dict[str, Any], ...]  # files whose filter or merge driver nobody trusted, by driver
    nested: tuple[str, ...] = ()  # repositories inside the checkout: --carry leaves them out
    tied: tuple[str, ...] = ()  # copied Python environments whose scripts name the checkout

    def record(self) -> dict[str, Any]:
        """Return the card as the JSON object that is stored with the task."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in self._asdict().items()}


def draw_card(
    project: Project,
    *,
    base: Sha,
    base_ref: str,
    carried: bool,
    nested: Sequence[bytes],
    included: Sequence[bytes],
    start: Sha | None = None,
    workspace: Workspace,
) -> StartCard:
    """Return the start card of a workspace that was just made from the commit `base`.

    `nested` is what --carry left out. If it starts at another
    commit, that is `start`: then the checkout's uncommitted changes have nothing to do with it and
    are not listed.
    """
    repository = project.repository
    commit = repository.summary(base)
    left_out: list[bytes] = []
    ignored: list[bytes] = []
    partly: list[bytes] = []
    checkout = project.checkout
    if checkout is not None:
        status = repository.status(project.user_settings, checkout.root, checkout.git_dir)
        changed = {*status.staged, *status.modified, *status.untracked, *status.conflicted}
        if not carried and start is None:
            outside = outside_home(project.app, checkout.root, changed)
            inside = {
                path
                for path in outside
                if path.endswith(b"/")
                and os.path.lexists(checkout.root / os.fsdecode(path) / ".git")
            }
            nested = nested_repositories(checkout, sorted(inside))
            left_out = sorted({*outside} - inside)
        reached = _reached(included)
        lacking = outside_home(project.app, checkout.root, status.ignored)
        ignored = [path for path in lacking if path.rstrip(b"/") not in reached]
        begun = [path for path in lacking if path.endswith(b"/") and path not in ignored]
        partly = [path for path in begun if _lacks(checkout.root, path, frozenset(included))]
    return StartCard(
        base_ref=base_ref,
        base_commit=base,
        base_subject=commit.subject,
        base_time=iso(datetime.fromtimestamp(commit.time, UTC)),
        carried=carried,
        left_out=_names(left_out),
        left_out_count=len(left_out),
        submodules=_names([each.path for each in repository.submodules(start or base)]),
        lfs=_lfs(project, start or base),
        sparse=repository.is_sparse(Path(workspace.git_dir)),
        shallow=repository.is_shallow(),
        missing=_names(ignored),
        missing_count=len(ignored),
        partly=_names(partly),
        included=_names(included),
        included_count=len(included),
        off=tuple(each._asdict() for each in off_in(project, workspace, start or base)),
        nested=_names(nested),
        tied=() if checkout is None else _names(_tied(checkout.root, included)),
    )


def _tied(root: Path, copied: Sequence[bytes]) -> list[bytes]:
    """Return the copied Python environments that name their place in the checkout.

    Their `activate`, and the first lines of their scripts, lead back there: `pip` would install
    into the checkout's environment.
    """
    found = []
    for path in copied:
        above, name = os.path.split(path)
        if name != b"pyvenv.cfg":
            continue
        directory = os.path.join(os.fsencode(root), above)
        if directory in (read_small(Path(os.fsdecode(directory)) / "bin/activate") or b""):
            found.append(above + b"/")
    return found


def off_in(project: Project, workspace: Workspace, commit: Sha) -> "list[PathClass]":
    """Return the files of a commit that go through drivers of the repository that nobody trusted.

    `workspace` has them on disk.
    """
    if not project.user_settings.off:
        return []
    from siding.ground.git.drivers import path_classes

    place = Place(
        git_dir=Path(workspace.git_dir),
        common_dir=project.paths.common_dir,
        work_tree=Path(workspace.path),
        settings=project.user_settings.settings,
    )
    return path_classes(project.git, place, commit, project.user_settings.off)


def _reached(copied: Sequence[bytes]) -> set[bytes]:
    """Return the paths that were copied and every directory above them."""
    return {*copied, *(above for path in copied for above in parents(path))}


def _lacks(root: Path, directory: bytes, copied: frozenset[bytes]) -> bool:
    """Tell whether a directory contains a file that was not copied; stop at the first one."""
    start = os.fsencode(root)
    for above, _directories, files in os.walk(os.path.join(start, directory)):
        if any(os.path.relpath(os.path.join(above, name), start) not in copied for name in files):
            return True
    return False


def _lfs(project: Project, base: Sha) -> str:
    if not project.repository.uses_filter(base):
        return "none"
    return "files" if "lfs" in project.user_settings.filters else "pointers"


def _names(paths: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(quote_path(path) for path in paths[:LISTED])
