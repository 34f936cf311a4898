"""Which changes outside the workspace this run may make, or Siding's own commands explain."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.intents import Intents
from siding.record.ledger.reports import OutsideChange
from siding.record.runs.store import is_at_work
from siding.record.tasks.registry import Workspace
from siding.record.tasks.slots import is_slot
from siding.record.tasks.task import WorkspaceState

if TYPE_CHECKING:
    from siding.record.place.project import Project

_NEWEST_STEPS = 50  # among which an apply is looked for


class Began(NamedTuple):
    """When a run began: by the clock of the file system, in nanoseconds, and as steps have it."""

    since_ns: int
    since: str


def without_ours(
    project: "Project", workspace: Workspace, changes: list[OutsideChange], began: Began
) -> list[OutsideChange]:
    """Return the changes that neither this run may make nor a parallel Siding command explains."""
    left = [each for each in changes if not _own(workspace, each)]
    if not left:
        return []
    others = _Others(project, workspace, began)
    return [each for each in left if not others.explain(each)]


def _own(workspace: Workspace, change: OutsideChange) -> bool:
    """Tell whether a run may make this change: to its own branch, or to a ref below refs/siding."""
    if change.what == "branch" and change.name == workspace.branch:
        return change.how != "removed"
    if change.what == "ref" and change.name.startswith("siding/"):
        return True
    if change.what == "config":
        return change.name.startswith(f"branch.{workspace.branch}.")
    own = Path(workspace.git_dir).name
    return change.what == "worktree" and change.name == own and change.how == "changed"


class _Others:
    """The other tasks, and whether a Siding command worked in one of them since the run began."""

    def __init__(self, project: "Project", workspace: Workspace, began: Began) -> None:
        self._project = project
        self._workspace = workspace
        self._since_ns, self._since = began
        self._all = [each for each in project.registry.all() if each.task_id != workspace.task_id]
        self._moved: bool | None = None

    def explain(self, change: OutsideChange) -> bool:
        """Tell whether a Siding command in another task may have made this change."""
        if change.what == "branch":
            owner = next((each for each in self._all if each.branch == change.name), None)
            if owner is not None:
                return change.how != "moved" or self._at_work(owner)
            return self._applied()
        if change.what == "worktree":
            if is_slot(change.name):  # forks and views come and go beside a run
                known = self._project.layout.forks.lock(change.name).exists()
                return known or change.how == "removed"
            owner = next(
                (each for each in self._all if Path(each.git_dir).name == change.name), None
            )
            return owner is not None and (change.how != "changed" or self._at_work(owner))
        if change.what == "workspace":
            owner = next((each for each in self._all if _name(each) == change.name), None)
            return owner is None or change.how == "made" or self._at_work(owner)
        if change.what == "config":
            return any(change.name.startswith(f"branch.{each.branch}.") for each in self._all)
        return change.what in ("head", "index", "files", "stash") and self._applied()

    def _applied(self) -> bool:
        """Tell whether `siding apply`, or its undo, changed the person's checkout during the
        run."""
        if self._moved is None:
            # This task's own change may have been applied, too, while the run lived.
            self._moved = self._moves(self._workspace) or any(
                self._at_work(each) and self._moves(each) for each in self._all
            )
        return self._moved

    def _at_work(self, other: Workspace) -> bool:
        if other.intent is not None or other.status not in _PRESENT:
            return True  # the workspace is being created or removed
        layout = self._project.task_layout(other.task_id)
        # A command at work holds the task's lock, a run one of its own; one that has ended changed
        # the task's files.
        return _newest_ns(layout.root) >= self._since_ns or is_at_work(layout)

    def _moves(self, other: Workspace) -> bool:
        begun = Intents(self._project.task_layout(other.task_id)).all()
        if any(intent.draft.as_apply is not None for intent in begun):
            return True
        newest = self._project.ledger(other.task_id).tail(_NEWEST_STEPS)
        return any(step.as_apply is not None and step.ended_at >= self._since for step in newest)


_PRESENT = (WorkspaceState.ACTIVE, WorkspaceState.KEPT)


def _name(workspace: Workspace) -> str:
    return Path(workspace.path).name


def _newest_ns(directory: Path) -> int:
    """Return the newest change time of the files in a directory, in nanoseconds; 0 if there is
    none."""
    try:
        with os.scandir(directory) as entries:
            return max(
                (entry.stat(follow_symlinks=False).st_ctime_ns for entry in entries), default=0
            )
    except OSError:
        return 0
