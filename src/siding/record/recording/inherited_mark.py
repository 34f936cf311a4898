"""Mark a task that starts on commits of a task that has had a sandboxed run.

Whoever names the branch of such a task, one that its runs made, or a commit of either, begins with
files that nobody may have seen. What has reached the branch that the other task is applied to was
seen there, so from there nothing is inherited.
"""

from collections.abc import Iterator

from siding.ground.git.command import Place
from siding.ground.git.errors import GitError
from siding.ground.ids import Sha, TaskId
from siding.record.place.project import Project
from siding.record.quarantine.run import made_branches
from siding.record.recording.line_base import line_base
from siding.record.tasks.registry import Workspace
from siding.record.traps.marks import mark_of, mark_sandboxed
from siding.record.unfinished.sandbox_commits import quarantine_of


def inherit_mark(project: Project, taker: TaskId, base: Sha, start: Sha) -> None:
    """Mark `taker` if the commit that it starts at has commits of a marked task.

    Where they are in its base already, its workspace is compared with what the other task was
    compared with: else nothing would differ.
    """
    reaches: dict[str, bool] = {}  # by the branch that a task is applied to
    for giver in _marked(project, taker):
        target = project.tasks.load(giver.task_id).base_ref
        if target not in reaches:
            reaches[target] = _has_beyond(project, start, target, giver.base_commit)
        if reaches[target] and _has_commits_of(project, giver, start, target):
            in_base = base == start or _has_commits_of(project, giver, base, target)
            mark_sandboxed(project, taker, _reference(project, giver) if in_base else "")
            return


def _marked(project: Project, taker: TaskId) -> Iterator[Workspace]:
    for task_id in project.tasks.ids():
        if task_id != taker and project.task_layout(task_id).sandboxed_json.exists():
            workspace = project.workspaces.of_task(task_id)
            if workspace is not None and workspace.base_commit:
                yield workspace


def _has_commits_of(project: Project, giver: Workspace, commit: Sha, target: str) -> bool:
    root = quarantine_of(project.task_layout(giver.task_id))
    for name in {giver.branch, *made_branches(root)} - {""}:
        tip = _tip(project, name)
        common = None if tip is None else project.repository.merge_base(commit, tip)
        if common is not None and _has_beyond(project, common, target, giver.base_commit):
            return True
    return False


def _has_beyond(project: Project, commit: Sha, target: str, base: Sha) -> bool:
    """Tell whether a commit has any that the branch `target` lacks, and the commit `base`."""
    tip = _tip(project, target)
    done = project.git.attempt(
        Place(git_dir=project.paths.common_dir),
        ["rev-list", "--max-count=1", commit, "--not", base, *([tip] if tip else ())],
    )
    return bool(done.stdout.strip())


def _tip(project: Project, branch: str) -> Sha | None:
    try:
        return project.repository.branch(branch)
    except GitError:  # a name that no branch can have
        return None


def _reference(project: Project, giver: Workspace) -> str:
    mark = mark_of(project, giver.task_id)
    if mark is not None and mark.reference:
        return mark.reference
    return line_base(project, giver).snapshot
