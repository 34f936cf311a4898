"""Restore a removed workspace: the reverse of `workspaces.remove`, with its own intent.

The directory in the trash is renamed back with everything in it: ignored files, nested
repositories, staged changes and local commits. If the trash was freed, its archive is unpacked
first. If there is no archive either, the workspace is made from the newest snapshot.
"""

import os
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs, move_aside, remove_file
from siding.ground.git.errors import BranchInUse
from siding.ground.git.roots import recorded_root
from siding.ground.namedtuples import NamedTuple
from siding.record.place.locks import holding_git
from siding.record.place.project import Project
from siding.record.tasks.moves import WorkspaceMove, move_workspace
from siding.record.tasks.registry import MOVED_TO, Workspace
from siding.record.workspaces.archives import lay_out, rebuild
from siding.record.workspaces.attempts import Attempt, naming, payload_of
from siding.record.workspaces.branches import FATE, bring_branch_back
from siding.record.worktrees.keeping import PACK_NAME, give_back, restore_branch
from siding.record.worktrees.listing import admin_dir, worktrees
from siding.record.worktrees.registration import attach_worktree, reattach, repair_links

RESTORE = "restore"
_OF_THE_REMOVAL = ("archive", FATE, MOVED_TO)  # fields of an entry that end with the restoration


class Returned(NamedTuple):
    """A restored workspace, and sentences about how it was restored."""

    workspace: Workspace
    notes: tuple[str, ...]


def bring_back(project: Project, workspace: Workspace, attempt: Attempt) -> Returned:
    """Restore a removed workspace. The caller holds the task's lock.

    Raises BranchInUse if its branch is checked out elsewhere, and SidingError if there is something
    at its path; in both cases nothing was changed.
    """
    move_workspace(workspace.status, WorkspaceMove.RESTORE)
    path = _place(project, workspace)
    if os.path.lexists(path):
        raise SidingError(
            f"{str(path)!r} is in the way of the workspace",
            hint="move it elsewhere, then reopen the task",
        )
    _refuse_branch_in_use(project, workspace)
    going = workspace._replace(
        path=str(path),
        intent={"op": RESTORE, "at": project.app.now(), "pid": project.app.pid},
    )
    attempt.begin(workspace.task_id, naming(going))
    _put(project, going)
    returned = finish_return(project, going)
    attempt.end(workspace.task_id, payload_of(returned.workspace), None)
    return returned


def finish_return(project: Project, going: Workspace) -> Returned:
    """Finish a restoration. Safe to repeat after a crash at any point."""
    path = Path(going.path)
    trash = project.layout.root / going.trash if going.trash else None
    notes: list[str] = []
    if not os.path.lexists(path):
        stored = None if trash is None else trash / "workspace"
        if stored is not None and not os.path.lexists(stored):
            archive = going.rest.get("archive")
            if archive:
                assert trash is not None
                lay_out(project, going, project.layout.root / str(archive), trash)
                notes.append("its files were taken out of the archive")
        make_dirs(path.parent)
        if stored is not None and os.path.lexists(stored):
            move_aside(stored, path)
        else:
            _rebuild(project, going, path)
            notes.append("made again from its newest snapshot: ignored files are not in it")
    with holding_git(project, f"bringing back the workspace of task {going.task_id}"):
        git_dir = _attach(project, going, path, trash, notes)
    root = recorded_root(path)
    here = going._replace(
        status=move_workspace(going.status, WorkspaceMove.RESTORE),
        git_dir=str(git_dir),
        device=root.device,
        inode=root.inode,
        removed_at=None,
        intent=None,
        trash=None,
        rest={key: each for key, each in going.rest.items() if key not in _OF_THE_REMOVAL},
    )
    _put(project, here)
    if archive := going.rest.get("archive"):
        remove_file(project.layout.root / str(archive))  # the workspace has all of its content now
    return Returned(workspace=here, notes=tuple(notes))


def _attach(
    project: Project, going: Workspace, path: Path, trash: Path | None, notes: list[str]
) -> Path:
    """Register the worktree with git again; return its git directory. Safe to repeat."""
    repository, base = project.repository, going.base_commit
    stored = None if trash is None else trash / "git-dir"
    pack = None if trash is None else trash / PACK_NAME
    problem = bring_branch_back(project, going, pack)
    if problem is not None:
        notes.append(problem)
    known = admin_dir(repository, path)
    if stored is not None and ((stored / "HEAD").is_file() or (known and os.path.lexists(stored))):
        git_dir = attach_worktree(repository, path, stored)
    elif known is not None:
        git_dir = known
        repair_links(path, git_dir, repository.paths.common_dir)
    else:
        git_dir = repository.paths.common_dir / "worktrees" / path.name
        notes.append(reattach(repository, path, git_dir, going.branch, base))
    if pack is not None and give_back(repository, git_dir, base, pack):
        notes.append("commits and staged contents that git had pruned were given back")
    made = restore_branch(repository, git_dir, base)
    if made is not None:
        notes.append(f"branch {made} had been deleted and was made again")
    return git_dir


def _rebuild(project: Project, going: Workspace, path: Path) -> None:
    """Make the directory from the newest snapshot elsewhere, and rename it into place."""
    partial = project.layout.root / "restoring" / f"{going.task_id}.new"
    rebuild(project, going.task_id, partial)
    move_aside(partial, path)


def _place(project: Project, workspace: Workspace) -> Path:
    """Return the path of the workspace: the recorded one, unless the home was moved since."""
    path = Path(workspace.path)
    return path if path.parent.is_dir() else project.layout.workspace(workspace.task_id)


def _refuse_branch_in_use(project: Project, workspace: Workspace) -> None:
    for other in worktrees(project.repository):
        if other.head and other.path and other.head.branch == workspace.branch:
            raise BranchInUse(
                f"branch {workspace.branch!r} is checked out at {str(other.path)!r}",
                hint="switch that checkout to another branch first",
            )


def _put(project: Project, workspace: Workspace) -> None:
    with project.changing(f"bringing back the workspace of task {workspace.task_id}"):
        project.registry.put(workspace)
