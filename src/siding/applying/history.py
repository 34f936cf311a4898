"""Find the departure of a task's change: the state that the change is relative to.

Usually that is the task's base. After an apply with ``--no-close`` it is the state that was
applied. After a conflict was resolved in the workspace it is the commit of the target that was
merged there. If rollbacks make this doubtful, the base is used: the worst result is then a
conflict, never that work of others on the target is reverted.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from siding.applying.content import Sources
from siding.ground.errors import SidingError, counted
from siding.ground.git.errors import CommandFailed
from siding.ground.git.paths import quote_path, unquote_path
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha, TaskId, is_fork
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.move_details import ApplyDetail, MergedBranch
from siding.record.ledger.step import Step, StepStatus
from siding.record.moving.model import CheckoutPlace
from siding.record.moving.move import Unfinished, unfinished_in, unfinished_then
from siding.record.place.project import Project
from siding.record.recording.line_base import still_has
from siding.record.snapshots.patches import diff_trees

if TYPE_CHECKING:
    from siding.record.recording.last_state import LastState

MARKERS = re.compile(rb"^(<{7} |>{7} )", re.MULTILINE)  # of a conflict


class Departure(NamedTuple):
    """The state that the task's change is relative to: `commit`, or `snapshot`, or the task's base.

    `heads` are commits of the agent that the target already has as rewritten commits. `applied` is
    the commit of the target that got the snapshot.
    """

    commit: Sha | None = None
    snapshot: Sha | None = None
    heads: tuple[Sha, ...] = ()
    conflicts: tuple[bytes, ...] = ()  # paths of a merge in the workspace that had markers
    applied: Sha | None = None


class Dropped(SidingError):
    """Commits that were taken off the base branch would come back. Nothing was changed."""

    code = "dropped_commits"


class Unresolved(SidingError):
    """Files of the workspace still hold conflict markers."""

    code = "unresolved"


def unfinished_in_workspace(sources: Sources) -> Unfinished | None:
    """Return the merge, rebase or the like that is unfinished in the workspace, None if none is."""
    workspace, last = sources.workspace, sources.last
    if last is not None:
        return _unfinished_then(sources, last)
    if not workspace.git_dir or not sources.root.is_dir():
        return None
    place = CheckoutPlace(root=sources.root, git_dir=Path(workspace.git_dir))
    return unfinished_in(sources.bench.repository, place)


def _unfinished_then(sources: Sources, last: "LastState") -> Unfinished | None:
    files = last.details.files
    staged = (entry.path for entry in last.details.entries or () if entry.stage)

    def todo() -> bytes:
        named = files.get("sequencer/todo")
        return (named and sources.bench.store.read_blob(named, 1 << 20)) or b""

    return unfinished_then(sources.root, files.keys(), todo, tuple(dict.fromkeys(staged)))


def refuse_unresolved(
    sources: Sources,
    tree: Sha,
    merged: Sequence[bytes] = (),
    unfinished: Unfinished | None = None,
) -> None:
    """Raise Unresolved if a path that was in conflict still contains conflict markers.

    `merged` are the paths that ``siding apply --resolve`` put markers into; `unfinished` has those
    of a merge that git left in the workspace.
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


def refuse_dropped(
    sources: Sources, tip: Sha, bases: Sequence[Sha], ends: Sequence[Sha], what: str
) -> None:
    """Raise Dropped if `tip` would bring commits back that were taken off the base branch.

    `bases` are commits that the task had of that branch, `ends` those where it is now.
    """
    bench = sources.bench
    old = [base for base in bases if not any(_reaches(bench.repository, base, e) for e in ends)]
    if not old:
        return
    from siding.applying.git.commit_graph import commits_since

    brought = set(commits_since(bench, tip, ends))
    dropped = {sha for base in old for sha in commits_since(bench, base, ends)} & brought
    if dropped:
        raise Dropped(
            f"{what} would bring back {counted(len(dropped), 'commit')} that "
            f"{sources.task.base_ref} had when the task took it, and has not any more",
            hint="`siding sync` takes the task off what was dropped; `siding apply --mode squash` "
            "applies what the task itself has changed. Nothing was changed",
        )


def _with_markers(sources: Sources, tree: Sha, paths: Sequence[bytes]) -> list[str]:
    known = sources.bench.read_trees((tree, p.rpartition(b"/")[0]) for p in paths)
    open_: list[str] = []
    for path in paths:
        directory, _, name = path.rpartition(b"/")
        entry = known.get((tree, directory), {}).get(name)
        if entry is not None and entry.mode.startswith(b"100"):
            (body,) = sources.bench.read([entry.sha], kind=b"blob")
            if MARKERS.search(body):
                open_.append(quote_path(path))
    return open_


def newest_merge(project: Project, task_id: TaskId, branch: str | None) -> Step | None:
    """Return the newest step that merged `branch` (None: any branch) into the workspace.

    Returns None if a rollback took it back or if the whole change was applied since.
    """
    for step in effective_steps(project, task_id):
        applied = step.as_apply if step else None
        if step is None or (applied and _took_all(applied)):
            return None
        merged = _merged(step)
        if merged and branch in (None, merged.branch) and not is_fork(merged.branch):
            return step
    return None


def effective_steps(project: Project, task_id: TaskId) -> Iterator[Step | None]:
    """Yield the steps that led to the present state, newest first.

    Steps that a rollback took back are skipped. If it is unknown where a rollback went, None is
    yielded last: nothing can be said about the older steps.
    """
    limit: int | None = None
    for step in project.ledger(task_id).newest_first():
        if limit is not None and step.number > limit:
            continue
        if step.goes_back:
            limit = _goes_to(step)
            if limit is None:
                yield None
                return
            continue
        yield step


def departure(sources: Sources, branch: str, target: Sha, now: Sha) -> Departure:
    """Return the departure of the task's change for the branch `branch`, which is at `target`.

    `now` is the snapshot (or its tree) of the state that is compared with it.
    """
    repository = sources.bench.repository
    last = sources.project.ledger(sources.task.id).last()
    seen = last.number + 1 if last is not None else 1
    gaps = False
    for step in effective_steps(sources.project, sources.task.id):
        if step is None:
            return Departure()
        gaps, seen = gaps or step.number != seen - 1, step.number
        if step.merged is not None and step.status != StepStatus.COMPLETED:
            return Departure()  # HEAD may have what was merged while the files have not
        merged, applied = _merged(step), step.as_apply
        if merged is not None:
            if not _is_still_merged(sources, step, merged, now):
                continue
            # A sync says what is the task's own, also where the branch was rewritten since.
            if merged.branch == branch and (
                step.syncs or _reaches(repository, merged.commit, target)
            ):
                paths = tuple(unquote_path(each.name) for each in merged.conflicts)
                return Departure(commit=Sha(merged.commit), conflicts=paths)
        elif (
            applied is not None
            and _is_whole(step, applied, branch)
            and _reaches(repository, applied.commit_sha, target)
        ):
            heads = (Sha(applied.head),) if applied.head else ()
            at = Sha(applied.commit_sha)
            return Departure(snapshot=Sha(str(step.snapshot)), heads=heads, applied=at)
    return Departure() if gaps else _merged_by_agent(sources, target)


def _is_still_merged(sources: Sources, step: Step, merged: MergedBranch, now: Sha) -> bool:
    """Tell whether a state still has what a step merged: git can have taken it out again.

    A merge of files alone counts as taken out if all that it changed is as it was before.
    """
    if step.syncs:
        return still_has(sources.project, sources.workspace, Sha(merged.commit))
    if step.parent is None or step.snapshot is None:
        return True
    store, before = sources.bench.store, Sha(step.parent)
    came = {change.path for change in diff_trees(store, before, Sha(step.snapshot))}
    return not came or any(each.path in came for each in diff_trees(store, before, now))


def _merged(step: Step) -> MergedBranch | None:
    """Return what a step merged into the workspace; None if it did not, or was cut off."""
    return step.merged if step.status == StepStatus.COMPLETED else None


def _is_whole(step: Step, applied: ApplyDetail, branch: str) -> bool:
    return (
        step.status == StepStatus.COMPLETED
        and applied.target_branch == branch
        and _took_all(applied)
        and step.snapshot is not None
    )


def _took_all(applied: ApplyDetail) -> bool:
    """Tell whether the target got the whole change, as it was at this step.

    When an apply is done again, the target gets what it got at that apply, which is an older step.
    """
    return applied.whole and applied.reversal.redoes is None


def _goes_to(step: Step) -> int | None:
    """Return the step whose state a rollback brought back; None when that is not known."""
    back = step.as_rollback
    try:
        return int(str(back.target_step)) if back else None
    except ValueError:
        return None


def _reaches(repository: Repository, old: str, new: Sha) -> bool:
    """Tell whether the target's history has the commit `old`. A commit that is gone counts as
    no."""
    if not old:
        return False
    try:
        return old == new or repository.is_ancestor(Sha(old), new)
    except CommandFailed:
        return False


def _merged_by_agent(sources: Sources, target: Sha) -> Departure:
    """Return the newest commit of the target that the agent merged or rebased onto, else the
    base."""
    bench, base, head = sources.bench, sources.workspace.base_commit, sources.head()
    if head is None or base in (head, target):
        return Departure()
    done = bench.git.attempt(bench.place(), ["merge-base", head, target])
    common = done.stdout.decode("ascii").strip()
    if done.returncode or common == base or not bench.repository.is_ancestor(base, Sha(common)):
        return Departure()
    return Departure(commit=Sha(common))
