"""Work out in full what a sync will do, on the bench. Nothing is changed.

What is committed goes with HEAD. What is not is merged on top of it, so that it stays uncommitted.
If the commits themselves conflict, HEAD stays and the merge is left unfinished, as git leaves it:
with markers in the files, the three sides in the index, and MERGE_HEAD.
"""

from collections.abc import Iterator, Mapping

from siding.applying.content import Sources, state_at, with_commits
from siding.applying.git.attributes import files_place, refuse_off_filters
from siding.applying.git.merging import Conflict, Merged, merge_trees
from siding.applying.history import unfinished_in_workspace
from siding.applying.markers import with_named_sides
from siding.ground.errors import SidingError, counted
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.pause import BesideRuns
from siding.record.moving.move import changed_paths
from siding.record.snapshots.git_details import GitDetails, IndexEntry
from siding.record.snapshots.git_state import GitState
from siding.syncing.new_head import (
    How,
    Incoming,
    NewHead,
    incoming,
    merge_in,
    merge_message,
    new_head,
)

__all__ = ["CannotSync", "How", "Incoming", "SyncPlan", "SyncRequest", "make_plan"]

_NAMED = 5  # commits that a note lists


class CannotSync(SidingError):
    """The workspace is in a state in which nothing can be brought in. Nothing was changed."""

    code = "cannot_sync"


class SyncRequest(NamedTuple):
    """The options of one ``siding sync``. `onto` None is the branch that the task started from."""

    task: str | None = None
    onto: str | None = None
    rebase: bool = False
    force: bool = False
    wait: bool = False
    beside: BesideRuns = BesideRuns()


class SyncPlan(NamedTuple):
    """What a sync will do. `files` is the tree of the workspace after it, as git would commit it;
    `side` that of before. `left` are contents of git's small files, by their names, that an
    unfinished merge adds."""

    coming: Incoming
    now: GitState
    head: NewHead
    side: Sha
    files: Sha
    conflicts: tuple[Conflict, ...]
    entries: tuple[IndexEntry, ...]
    left: Mapping[str, bytes]
    notes: tuple[str, ...] = ()

    @property
    def nothing_to_do(self) -> bool:
        return self.coming.nothing_to_do

    @property
    def message(self) -> str:
        """What the step says of itself."""
        count = self.coming.commits
        what = f"{counted(count, 'commit')} of {self.coming.branch}"
        if self.conflicts:
            return f"{what} brought in, with conflicts to resolve"
        return f"{what} brought in"


def make_plan(
    sources: Sources, request: SyncRequest, snapshot: Sha, now: GitState, details: GitDetails
) -> SyncPlan:
    """Return what a sync from this state does; `details` are those of `now`. Raises CannotSync."""
    if now.head is None:
        raise CannotSync("HEAD has no commit yet", hint="commit something, or `siding rollback`")
    coming = incoming(sources, now.head, request.onto)
    if coming.nothing_to_do:
        nothing = NewHead(How.FAST_FORWARD, now.head)
        return SyncPlan(coming, now, nothing, Sha(""), Sha(""), (), (), {})
    _refuse_elsewhere(sources, now)
    side = with_commits(sources, state_at(sources, snapshot), now.head)
    _refuse_off(sources, coming)
    place = files_place(sources.bench, sources.user) if side.attributes else None
    head = new_head(sources, now.head, coming, rebase=request.rebase, place=place)
    notes = (
        *_rewritten(coming, head),
        *side.notes,
        *(f"left alone: {quote_path(e.path)} ({e.why})" for e in side.left_out),
    )
    plan = SyncPlan(coming, now, head, side.tree, side.tree, (), (), {}, notes)
    if head.conflict is not None:
        merged = merge_in(sources.bench, coming, now.head, side.tree, place)
        return _unfinished(sources, plan, head.conflict, merged, details)
    merged = merge_trees(
        sources.bench,
        base=sources.bench.tree_of(now.head),
        ours=sources.bench.tree_of(head.commit),
        theirs=side.tree,
        place=place,
    )
    return _finished(sources, plan, merged, details)


def _refuse_off(sources: Sources, coming: Incoming) -> None:
    """Raise DriverOff if a file that comes in goes through a filter that is off: it would be
    written as git stores it."""
    bench, user = sources.bench, sources.user
    if user.off_filters:
        target = bench.tree_of(coming.commit)
        changes = changed_paths(bench.repository, bench.place(), sources.base_tree, target)
        refuse_off_filters(bench, user, (sources.base_tree, target), changes)


def _rewritten(coming: Incoming, head: NewHead) -> tuple[str, ...]:
    """Return what is said if the branch that the task started from was rewritten."""
    if coming.old is None:
        return ()
    named = ", ".join(f"{each.sha[:10]} {each.subject}" for each in coming.dropped[:_NAMED])
    more = f" and {coming.dropped_count - _NAMED} more" if coming.dropped_count > _NAMED else ""
    said = (
        "the branch that the task started from was rewritten: what it has not any more is not the "
        f"task's, and goes ({named}{more})"
    )
    if head.how is How.MERGE:
        return (said, "the task's branch has these commits in its history, as it was merged")
    return (said,)


def _refuse_elsewhere(sources: Sources, now: GitState) -> None:
    """Raise CannotSync if HEAD is on a branch that is not the task's, or git is in between."""
    if now.branch not in (None, sources.workspace.branch):
        raise CannotSync(
            f"the workspace is on {now.branch}, not on the task's branch",
            hint=f"git -C {sources.root} switch {sources.workspace.branch}",
        )
    unfinished = unfinished_in_workspace(sources)
    if unfinished is not None:
        raise CannotSync(f"{unfinished.what} in the workspace", hint=f"{unfinished.finish}")


def _finished(sources: Sources, plan: SyncPlan, merged: Merged, details: GitDetails) -> SyncPlan:
    """HEAD goes on; what was not committed is merged on top of it."""
    bench, head = sources.bench, plan.head.commit
    merged = with_named_sides(bench, merged, plan.coming.branch, f"task {sources.task.name}")
    assert plan.now.head is not None
    before, after = bench.tree_of(plan.now.head), bench.tree_of(head)
    touched = {c.path for c in changed_paths(bench.repository, bench.place(), before, after)}
    kept = _untouched(details, {*touched, *(entry.path for entry in merged.stages)})
    return plan._replace(
        files=merged.tree,
        conflicts=merged.conflicts,
        entries=(*kept, *merged.stages),
    )


def _unfinished(
    sources: Sources, plan: SyncPlan, commits: Merged, whole: Merged, details: GitDetails
) -> SyncPlan:
    """HEAD stays. `commits` is the merge of the commits, `whole` that of all files."""
    bench, branch = sources.bench, plan.coming.branch
    names = (f"task {sources.task.name}", branch)
    commits = with_named_sides(bench, commits, *names)
    whole = with_named_sides(bench, whole, *names)
    assert plan.now.head is not None
    before = bench.tree_of(plan.now.head)
    in_conflict = {entry.path for entry in commits.stages}
    changes = changed_paths(bench.repository, bench.place(), before, commits.tree)
    staged = [
        IndexEntry(c.path, 0, c.new_mode, c.new_sha) for c in changes if c.path not in in_conflict
    ]
    kept = _untouched(details, {*in_conflict, *(c.path for c in changes)})
    kinds = {each.path: each for each in (*commits.conflicts, *whole.conflicts)}
    said = "".join(f"#\t{quote_path(path)}\n" for path in sorted(in_conflict))
    return plan._replace(
        files=whole.tree,
        conflicts=tuple(kinds[path] for path in sorted(kinds)),
        entries=(*kept, *staged, *commits.stages),
        left={
            "MERGE_HEAD": plan.coming.commit.encode() + b"\n",
            "MERGE_MODE": b"",
            "MERGE_MSG": f"{merge_message(sources, branch)}\n# Conflicts:\n{said}".encode(
                "utf-8", "surrogateescape"
            ),
        },
    )


def _untouched(details: GitDetails, touched: set[bytes]) -> Iterator[IndexEntry]:
    """Return what is staged in paths that the sync does not change."""
    return (entry for entry in details.entries or () if entry.path not in touched)
