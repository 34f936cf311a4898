"""Mend git's link to a workspace before something is done there, or refuse to run anything in it.

The `.git` file of a workspace names git's record of the worktree, and the record names the
workspace. Either can go: a command deletes `.git` or makes a repository of its own there, or
`git worktree prune` removes the record. git then finds no repository in the workspace, or another
one, and a commit made by a run would land there.
"""

from contextlib import suppress
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.git.errors import GitError
from siding.ground.ids import Sha
from siding.record.place.locks import holding_git
from siding.record.place.project import Project
from siding.record.place.workspace_links import is_known
from siding.record.snapshots.git_state import state_in
from siding.record.snapshots.seeding import left_out
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task
from siding.record.worktrees.registration import reattach


class LinkBroken(SidingError):
    """In the workspace git would work in no repository, or in another one."""

    code = "link_broken"


def mend_if_possible(project: Project, task: Task, workspace: Workspace) -> None:
    """Mend the link and say so; leave it if it cannot be mended.

    Going back and recording work without the link. The caller holds the task's lock.
    """
    with suppress(LinkBroken):
        require_link(project, task, workspace)


def require_link(project: Project, task: Task, workspace: Workspace) -> None:
    """Mend the link and say so; raise LinkBroken, which says why, if it cannot be mended.

    The caller holds the task's lock, and has found the link broken.
    """
    path, what = Path(workspace.path), f"git does not know the workspace of task {task.name!r}"
    _refuse_own_repository(path / ".git", what)
    if not is_known(workspace, Path(workspace.git_dir)):
        raise LinkBroken(
            f"{what}: {workspace.path!r} is not the directory that was made for it",
            hint="move it away and the right one back, or `siding task reopen` makes that from its "
            "last state",
        )
    try:
        branch, base = _last_head(project, task, workspace)
        with holding_git(project, f"linking the workspace of {task.name} to git again"):
            done = reattach(
                project.repository,
                path,
                Path(workspace.git_dir),
                branch,
                base,
                left_out=left_out(project.snapshots, task.id),
            )
    except (SidingError, OSError) as error:
        said = error.message if isinstance(error, SidingError) else str(error)
        hint = error.hint if isinstance(error, GitError) and error.hint else ""
        raise LinkBroken(
            f"{what}, and the link could not be mended: {said}",
            hint=hint or "`siding doctor` tries it another way",
        ) from error
    project.app.warn(f"{what}; {done}")


def _refuse_own_repository(entry: Path, what: str) -> None:
    if entry.is_dir() and not entry.is_symlink():
        raise LinkBroken(
            f"{what}: {str(entry)!r} is a repository of its own, and git would work there",
            hint=f"move it out of the workspace (`mv {entry} ELSEWHERE`); the next run links the "
            "workspace to your repository again",
        )


def _last_head(project: Project, task: Task, workspace: Workspace) -> tuple[str | None, Sha]:
    """Return the branch and the commit that HEAD was on in the last snapshot of the task."""
    tip = project.snapshots.tip(task.id)
    state = None if tip is None else state_in(project.snapshots.read_commit(tip))
    if state is None or state.head is None:
        return workspace.branch, workspace.base_commit
    return state.branch, state.head
