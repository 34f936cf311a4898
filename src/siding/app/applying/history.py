"""What a task has applied already, and what it has merged: where its change departs from.

Usually that is the task's base. After an apply with ``--no-close`` it is the state that was
applied; after a conflict was resolved in the workspace it is the commit of the target that was
merged there. Where a rollback makes that doubtful the base is taken: then the worst that can
happen is a conflict, never that somebody's work on the target is taken back.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from siding.app.applying.content import Sources
from siding.app.place.project import Project
from siding.errors import SidingError
from siding.git.applying.checkout import CheckoutPlace
from siding.git.applying.unfinished import Unfinished, unfinished_in
from siding.git.errors import CommandFailed
from siding.git.paths import quote_path, unquote_path
from siding.git.repository import Repository
from siding.ids import Sha, TaskId
from siding.ledger.details.apply import ApplyDetail
from siding.ledger.details.rollback import MergedBranch, RollbackDetail
from siding.ledger.step import Step, StepStatus

_MARKERS = re.compile(rb"^(<{7} |>{7} )", re.MULTILINE)
_LOOKED_AT = 1000  # steps; an older apply is as good as none


class Departure(NamedTuple):
    """Where the change of the task begins. One of `commit` and `snapshot`, or neither: the base.

    ``heads`` are commits of the agent's that are on the target already, under other names.
    """

    commit: Sha | None = None
    snapshot: Sha | None = None
    heads: tuple[Sha, ...] = ()
    conflicts: tuple[bytes, ...] = ()  # paths of a merge in the workspace that had markers


class Unresolved(SidingError):
    """Files of the workspace still hold conflict markers."""

    code = "unresolved"


def unfinished_in_workspace(sources: Sources) -> Unfinished | None:
    """Return what git is in the middle of in the workspace, None when that is nothing."""
    workspace = sources.workspace
    if not workspace.git_dir or not Path(workspace.git_dir).is_dir() or not sources.root.is_dir():
        return None
    place = CheckoutPlace(root=sources.root, git_dir=Path(workspace.git_dir))
    repository = sources.bench.repository
    return unfinished_in(repository.git, repository.paths.common_dir, place)


def refuse_unresolved(
    sources: Sources,
    tree: Sha,
    merged: Sequence[bytes] = (),
    unfinished: Unfinished | None = None,
) -> None:
    """Raise Unresolved when a path that was in conflict still has markers in it.

    `merged` were put there by ``siding apply --resolve``, others by git in the workspace.
    """
    if named := _with_markers(sources, tree, merged):
        raise Unresolved(
            f"there are conflict markers left in {', '.join(named[:5])}",
            hint="edit them in the workspace, or `siding apply --abort`",
        )
    if unfinished and (named := _with_markers(sources, tree, unfinished.conflicts)):
        raise Unresolved(
            f"{unfinished.what} in the workspace, and there are conflict markers left in "
            f"{', '.join(named[:5])}",
            hint=f"{unfinished.finish}; nothing was changed",
        )


def _with_markers(sources: Sources, tree: Sha, paths: Sequence[bytes]) -> list[str]:
    known = sources.bench.read_trees((tree, p.rpartition(b"/")[0]) for p in paths)
    open_: list[str] = []
    for path in paths:
        directory, _, name = path.rpartition(b"/")
        entry = known.get((tree, directory), {}).get(name)
        if entry is not None and entry.mode.startswith(b"100"):
            (body,) = sources.bench.read([entry.sha], kind=b"blob")
            if _MARKERS.search(body):
                open_.append(quote_path(path))
    return open_


def newest_merge(project: Project, task_id: TaskId, branch: str | None) -> Step | None:
    """Return the step that merged a branch (any, when None) into the workspace, if it is still in
    effect and nothing was applied since."""
    for step in effective_steps(project, task_id):
        applied = step.as_apply if step else None
        if step is None or (applied and applied.whole):
            return None
        back = step.as_rollback
        if back and back.merged and branch in (None, back.merged.branch):
            return step
    return None


def effective_steps(project: Project, task_id: TaskId) -> Iterator[Step | None]:
    """Yield the steps that led to the present state, newest first, without what rollbacks took
    back; None where a rollback leaves it open what still holds, and nothing after that."""
    limit: int | None = None
    for step in reversed(project.ledger(task_id).tail(_LOOKED_AT)):
        if limit is not None and step.number > limit:
            continue
        if step.goes_back:
            limit = _goes_to(step)
            if limit is None:
                yield None
                return
            continue
        yield step


def departure(sources: Sources, branch: str, target: Sha) -> Departure:
    """Return where the task's change departs from, as seen from a branch at `target`."""
    repository = sources.bench.repository
    last = sources.project.ledger(sources.task.id).last()
    seen = last.number + 1 if last is not None else 1
    gaps = False
    for step in effective_steps(sources.project, sources.task.id):
        if step is None:
            return Departure()
        gaps, seen = gaps or step.number != seen - 1, step.number
        match step.detail:
            case RollbackDetail(merged=MergedBranch() as merged):
                if merged.branch == branch and _reaches(repository, merged.commit, target):
                    paths = tuple(unquote_path(each.name) for each in merged.conflicts)
                    return Departure(commit=Sha(merged.commit), conflicts=paths)
            case ApplyDetail() as applied if _is_whole(step, applied, branch):
                if _reaches(repository, applied.commit_sha, target):
                    heads = (Sha(applied.head),) if applied.head else ()
                    return Departure(snapshot=Sha(str(step.snapshot)), heads=heads)
    return Departure() if gaps else _merged_by_agent(sources, target)


def _is_whole(step: Step, applied: ApplyDetail, branch: str) -> bool:
    return (
        step.status == StepStatus.COMPLETED
        and applied.target_branch == branch
        and applied.whole
        and bool(applied.commit_sha)
        and step.snapshot is not None
    )


def _goes_to(step: Step) -> int | None:
    """Return the step whose state a rollback brought back; None when that is not known."""
    back = step.as_rollback
    try:
        return int(str(back.target_step)) if back else None
    except ValueError:
        return None


def _reaches(repository: Repository, old: str, new: Sha) -> bool:
    """Tell whether a commit of the ledger is part of the target; one that is gone is not."""
    if not old:
        return False
    try:
        return old == new or repository.is_ancestor(Sha(old), new)
    except CommandFailed:
        return False


def _merged_by_agent(sources: Sources, target: Sha) -> Departure:
    """The agent merged the target, or rebased onto it: its change is relative to that commit."""
    bench, base, head = sources.bench, sources.workspace.base_commit, sources.head()
    if head is None or base in (head, target):
        return Departure()
    done = bench.git.attempt(bench.place(), ["merge-base", head, target])
    common = done.stdout.decode("ascii").strip()
    if done.returncode or common == base or not bench.repository.is_ancestor(base, Sha(common)):
        return Departure()
    return Departure(commit=Sha(common))
