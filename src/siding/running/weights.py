"""Weigh what changed outside a workspace: a note, or an alarm.

People work beside their agents: they edit, commit, switch, stash, fetch. That is noted. An alarm is
what programs do and people rarely do: hooks, settings, start-up files, damage. A run in a sandbox
is blamed for nothing that it could not write.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from siding.record.ledger.reports import NOTE, OutsideChange

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.record.tasks.registry import Workspace
    from siding.sandbox.engines.values import Launch

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
    if _may_write(launch, workspace, _place(project, workspace, change)):
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


def _place(project: "Project", workspace: "Workspace", change: OutsideChange) -> str:
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
