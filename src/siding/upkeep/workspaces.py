"""Find workspaces of which the registry, the disk and git say different things; repair them."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shlex import quote

from siding.ground.git.discovery import is_set, read_settings
from siding.ground.ids import TaskId
from siding.record.place.locks import holding_git, holding_task
from siding.record.place.project import Project
from siding.record.place.task_workspace import workspace_of
from siding.record.place.workspace_links import is_known
from siding.record.quarantine.run import REFUSED
from siding.record.quarantine.takeover import Lacking, repair
from siding.record.runs.store import is_at_work
from siding.record.snapshots.fingerprint import take_own
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import WorkspaceState
from siding.record.unfinished.sandbox_commits import (
    quarantine_of,
    take_over_leftover,
)
from siding.record.workspaces.attempts import Attempt, naming
from siding.record.workspaces.workspaces import remove
from siding.record.worktrees.listing import worktrees
from siding.record.worktrees.registration import detach_worktree, is_attached, names_going, reattach
from siding.upkeep.findings import Finding


def workspace_findings(project: Project) -> Iterator[Finding]:
    """Yield what disagrees about the directories of workspaces."""
    yield from _missing_workspaces(project)
    yield from _unknown_directories(project)
    yield from _git_disagrees(project)
    yield from _lacking_objects(project)
    yield from _on_your_branch(project)
    yield from _called_bare(project)
    yield from _without_branch(project)


def _missing_workspaces(project: Project) -> Iterator[Finding]:
    for workspace in project.registry.all():
        if workspace.intent is not None or not _should_be_there(workspace):
            continue
        if not Path(workspace.path).is_dir():
            yield Finding(
                what=f"the workspace of task {workspace.task_id} is gone: {workspace.path!r}",
                advice="it is marked as removed; every recorded step keeps its snapshot",
                mend=partial(_mark_removed, project, workspace),
            )


def _mark_removed(project: Project, workspace: Workspace) -> str:
    with (
        holding_task(project, workspace.task_id, "doctor"),
        Attempt(project, "worktree.remove", worktree=naming(workspace)) as attempt,
    ):
        remove(project, workspace, attempt)
    return "marked as removed; git's record of it is in the trash"


def _unknown_directories(project: Project) -> Iterator[Finding]:
    known = {Path(each.path).name for each in project.registry.all()}
    for task in project.tasks.readable():
        workspace = workspace_of(project, task)  # an old home's is in no registry yet
        known |= {Path(workspace.path).name} if workspace is not None else set()
    try:
        found = sorted(project.layout.workspaces_dir.iterdir())
    except FileNotFoundError:
        return
    for directory in found:
        if directory.name not in known and directory.is_dir():  # files: `foreign_files`
            yield Finding(
                what=f"{str(directory)!r} belongs to no workspace in the registry",
                advice="look at it and move it away if it is nothing; Siding leaves it alone",
            )


def _git_disagrees(project: Project) -> Iterator[Finding]:
    registry = project.registry.all()
    for workspace in registry:
        if workspace.intent is not None or not _should_be_there(workspace):
            continue
        path, git_dir = Path(workspace.path), Path(workspace.git_dir)
        if not path.is_dir() or is_attached(project.repository, path, git_dir):
            continue
        if not is_known(workspace, git_dir):
            yield Finding(
                what=f"{workspace.path!r} is not the directory that was made for task "
                f"{workspace.task_id}",
                advice="look at it, move it away, and put the right one there. `siding task "
                "reopen` makes that from its last state",
            )
        else:
            yield Finding(
                what=f"git does not know the workspace of task {workspace.task_id} any more",
                advice="git's record of it is made again; no file is touched",
                mend=partial(_attach, project, workspace),
            )
    ours = {Path(each.git_dir) for each in registry if _live(each)}
    for name in names_going(project.repository):
        git_dir = project.paths.common_dir / "worktrees" / name
        if git_dir not in ours:
            yield Finding(
                what=f"git's record of worktree {name!r} was on its way to the trash",
                advice="it goes there",
                mend=partial(_discard, project, git_dir, None),
            )
    for info in worktrees(project.repository)[1:]:
        inside = info.path is not None and info.path.parent == project.layout.workspaces_dir
        if inside and info.path is not None and info.git_dir not in ours and not info.path.exists():
            yield Finding(
                what=f"git lists a worktree of ours that is not there: {info.git_dir.name!r}",
                advice="its record goes to the trash",
                mend=partial(_discard, project, info.git_dir, info.path),
            )


def _attach(project: Project, workspace: Workspace) -> str:
    with (
        holding_task(project, workspace.task_id, "doctor"),
        holding_git(project, "doctor"),
    ):
        return reattach(
            project.repository,
            Path(workspace.path),
            Path(workspace.git_dir),
            workspace.branch,
            workspace.base_commit,
        )


def _discard(project: Project, git_dir: Path, path: Path | None) -> str:
    unique = project.app.random_bytes(3).hex()
    trash = project.layout.trash_dir / f"{git_dir.name}-{unique}"
    with holding_git(project, "doctor"):
        detach_worktree(project.repository, path or git_dir, git_dir, trash)
    return f"moved to {trash}"


def _lacking_objects(project: Project) -> Iterator[Finding]:
    """Yield a finding for each workspace whose index or reflog names objects that do not exist."""
    for workspace in project.registry.all():
        if not _should_be_there(workspace) or is_busy(project, workspace.task_id):
            continue
        if Lacking(project.repository, Path(workspace.git_dir)):
            yield Finding(
                what=f"the index or the reflog of the workspace of task {workspace.task_id} names "
                "objects that are nowhere: `git gc` fails for the whole repository",
                advice="both are made to name only what is there, no file is touched, and what "
                "they were is kept",
                mend=partial(_repair, project, workspace),
            )


def _on_your_branch(project: Project) -> Iterator[Finding]:
    """Yield a finding for each workspace whose next commit would move the main checkout's branch.

    git itself refuses to check a branch out twice, so some program wrote the workspace's HEAD.
    """
    yours = take_own(project.paths.common_dir).branch
    for workspace in project.registry.all():
        if not _should_be_there(workspace) or yours is None or workspace.branch == yours:
            continue
        if take_own(Path(workspace.git_dir)).branch == yours:
            yield Finding(
                what=f"the workspace of task {workspace.task_id} is on branch {yours!r}, which is "
                "the one of your checkout: a commit there moves it",
                advice=f"put it back: git -C {workspace.path} symbolic-ref HEAD "
                f"refs/heads/{workspace.branch}",
            )


def _called_bare(project: Project) -> Iterator[Finding]:
    """Yield a finding if git takes a repository with a checkout for a bare one."""
    main, config = project.paths.main_worktree, project.paths.common_dir / "config"
    if main is not None and is_set(read_settings(config), "core.bare"):
        yield Finding(
            what=f"core.bare is true in {str(config)!r}, and git refuses to work in your checkout "
            f"{str(main)!r}; Siding goes on by the files that are there",
            advice=f"put it back: git -C {quote(str(main))} config core.bare false",
        )


def _without_branch(project: Project) -> Iterator[Finding]:
    """Yield a finding for each workspace whose HEAD is on the task's branch, which is gone."""
    for workspace in project.registry.all():
        if not _should_be_there(workspace) or workspace.intent is not None:
            continue
        is_on_it = take_own(Path(workspace.git_dir)).branch == workspace.branch
        if not is_on_it or project.repository.branch(workspace.branch) is not None:
            continue
        last = project.ledger(workspace.task_id).last()
        where = "--base" if last is None else f"--step {last.number}"
        yield Finding(
            what=f"branch {workspace.branch!r} of task {workspace.task_id} is gone: its workspace "
            "has no commit to stand on",
            advice=f"`siding rollback -t {workspace.task_id} {where}` brings it back with its "
            "commits",
        )


def _repair(project: Project, workspace: Workspace) -> str:
    layout = project.task_layout(workspace.task_id)
    with holding_task(project, workspace.task_id, "doctor"):
        said = take_over_leftover(project, layout, workspace)
        with holding_git(project, "doctor"):
            kept = quarantine_of(layout) / REFUSED / "before-repair"
            said += repair(project.repository, Path(workspace.git_dir), kept)
    return "; ".join(said) or "somebody else mended it"


def is_busy(project: Project, task_id: TaskId) -> bool:
    return is_at_work(project.task_layout(task_id))


def _should_be_there(workspace: Workspace) -> bool:
    return workspace.status in (WorkspaceState.ACTIVE, WorkspaceState.KEPT)


def _live(workspace: Workspace) -> bool:
    return _should_be_there(workspace) or workspace.intent is not None
