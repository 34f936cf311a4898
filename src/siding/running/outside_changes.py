"""Changes outside a workspace: whose they are, how much they weigh, and how they are said.

Some of them this run may make, and some Siding's own commands in other tasks explain: these are not
reported. Each other one is a note or an alarm. People work beside their agents: they edit, commit,
switch, stash, fetch. That is noted. An alarm is what programs do and people rarely do: hooks,
settings, start-up files, damage. A run in a sandbox is blamed for nothing that it could not write.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.intents import Intents
from siding.record.ledger.reports import NOTE, OutsideChange
from siding.record.runs.store import is_at_work
from siding.record.tasks.registry import Workspace
from siding.record.tasks.slots import is_slot
from siding.record.tasks.task import WorkspaceState

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.sandbox.engines.values import Launch

_NEWEST_STEPS = 50  # among which an apply is looked for
_PRESENT = (WorkspaceState.ACTIVE, WorkspaceState.KEPT)
# What people and their editors change in an ordinary day. What is not here is an alarm, unless the
# change says otherwise itself.
_EVERYDAY = frozenset(
    {"files", "index", "head", "branch", "tag", "remote branch", "ref", "stash", "worktree"}
)
_EVERYDAY_GIT = frozenset({"info/exclude", "info/sparse-checkout", "shallow"})
# Settings that git itself writes when somebody makes a branch, fetches or sets a submodule up, and
# those that editors and gh write beside them.
_EVERYDAY_SETTINGS = ("branch.", "submodule.", "lfs.", "gc.", "maintenance.")
_EVERYDAY_KEYS = (".gh-resolved", ".fetch", ".partialclonefilter", ".promisor")
LAYOUT = "(its layout)"  # only the order of lines or comments changed


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


def weighed(workspace: "Workspace", change: OutsideChange) -> OutsideChange:
    """Return the change with its weight. One that is a note already stays one."""
    if change.weight == NOTE or not _is_everyday(change):
        return change
    if change.what == "branch" and change.name == workspace.branch and change.how == "removed":
        return change  # the branch of the task that the run worked in
    return change._replace(weight=NOTE)


def _is_everyday(change: OutsideChange) -> bool:
    what, name = change.what, change.name
    if what == "git":
        return name in _EVERYDAY_GIT
    if what == "config":
        return (
            name == LAYOUT
            or name.startswith(_EVERYDAY_SETTINGS)
            or (name.startswith("remote.") and name.endswith(_EVERYDAY_KEYS))
        )
    return what in _EVERYDAY


def cleared(
    project: "Project", workspace: "Workspace", launch: "Launch", change: OutsideChange
) -> OutsideChange:
    """Return the change as a note if a run in this sandbox could not have made it."""
    if _may_write(launch, workspace, _place_of(project, workspace, change)):
        return change
    return change._replace(weight=NOTE)


def _may_write(launch: "Launch", workspace: "Workspace", place: str) -> bool:
    from siding.sandbox.engines.table import engine_of
    from siding.sandbox.engines.values import Kind, is_within

    real = os.path.realpath(place)
    if not engine_of(launch.engine).mounts and is_within(real, os.path.realpath(workspace.path)):
        return True  # it cannot keep single files of the workspace from being written
    return launch.view.kind_of(real) is Kind.WRITE or any(
        mount.kind is Kind.WRITE and is_within(os.path.realpath(mount.origin), real)
        for mount in launch.view.mounts
    )


def _place_of(project: "Project", workspace: "Workspace", change: OutsideChange) -> str:
    """Return the file or directory that is written to make a change."""
    main = project.paths.main_worktree
    if change.name.startswith("/"):
        return change.name
    places = {
        "files": main or project.paths.root,
        "workspace": project.layout.workspaces_dir / Path(change.name).name,
        "own": Path(workspace.git_dir),
        "record": project.layout.snapshots_git,
        "device": project.app.home.devices_dir,
    }
    return str(places.get(change.what, project.paths.common_dir))


def say(change: OutsideChange) -> str:
    """Return one change as a sentence for the screen."""
    what, name, how, _weight, before, after = change
    moved = f" ({_short(before)} -> {_short(after)})" if before or after else ""
    subject = {
        "files": f"your checkout: {name}",
        "index": f"your checkout's index: {name}",
        "head": "your checkout's HEAD",
        "stash": "the stash was",
        "hook": f"git's hook {name} was",
        "config": f"the repository's configuration: {name}",
        "git": f"git's {name}",
        "own": f"the workspace's git directory: {name}",
        "record": f"what Siding goes by: {name}",
        "device": f"a paired device, which may answer in your name: {name}",
        "home": f"what runs when you log in, or use git or ssh: {name} was",
        "objects": f"the repository: {name}",
        "reflog": f"the reflog of {name}",
    }.get(what, f"{what} {name}")
    return f"{subject} {how}{moved}"


def _short(value: object) -> str:
    text = str(value) if value else "none"
    if text.startswith("?"):
        return "?"  # there were too many refs to read the value of each
    hexadecimal = len(text) in (40, 64) and all(each in "0123456789abcdef" for each in text)
    return text[:10] if hexadecimal else text
