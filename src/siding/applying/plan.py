"""Work out in full what an apply will do, before anything is changed.

The result is always the three-way merge of the task's change with the present target. The mode
decides only how that becomes commits: in every mode the last commit has the merged tree.
"""

from collections.abc import Sequence
from enum import StrEnum

from siding.applying.content import LeftOut, Side, Sources, state_at, with_applied, with_commits
from siding.applying.git.attributes import files_place
from siding.applying.git.commits import (
    NewCommit,
    Person,
    RawCommit,
    read_commits,
    with_trailers,
    write_commit,
)
from siding.applying.git.merging import NEEDED, Conflict, Merged, merge_commits, merge_trees
from siding.applying.history import (
    Departure,
    departure,
    refuse_dropped,
    refuse_unresolved,
    unfinished_in_workspace,
)
from siding.applying.rolled_back_commits import (
    GoneBack,
    WouldPublish,
    described,
    gone_back,
    way_out,
)
from siding.applying.task_title import task_trailers, title_of
from siding.ground.errors import SidingError
from siding.ground.ids import Sha, step_id
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.reports import Trap
from siding.record.moving.bench import Bench
from siding.record.moving.model import CheckoutPlace, Overlaps
from siding.record.moving.move import Unfinished, counted_paths, overlaps
from siding.record.recording.line_base import line_base
from siding.record.snapshots.patches import Change, DiffStat

__all__ = ["ApplyPlan", "ApplySelection", "LeftOut", "Mode", "Target", "make_plan"]


class Mode(StrEnum):
    """How the change becomes part of the target."""

    COMMIT = "commit"  # the agent's commits one by one, then one for what it left uncommitted
    MERGE = "merge"  # a merge commit; the agent's commits stay as they are
    SQUASH = "squash"  # one commit
    REBASE = "rebase"  # as commit, and never anything else
    PATCH = "patch"  # files in the checkout, uncommitted


class Target(NamedTuple):
    """Where the change goes. `branch` is empty if only files are written (``--mode patch``)."""

    branch: str
    sha: Sha
    checkout: CheckoutPlace | None


class ApplySelection(NamedTuple):
    """The part of the task to apply, and how. `chosen`: the person named the mode."""

    mode: Mode
    chosen: bool
    start: Sha | None  # a snapshot; None: from where the task departed
    snapshot: Sha
    steps: str  # as trailers carry them
    paths: tuple[bytes, ...]
    message: str | None
    co_authors: tuple[str, ...]
    sign: bool

    @property
    def whole(self) -> bool:
        return self.start is None and not self.paths


class PlannedCommit(NamedTuple):
    """A commit that is written and not yet on a branch. `source` is the agent's commit it
    repeats."""

    sha: Sha
    subject: str
    source: Sha | None


class ApplyPlan(NamedTuple):
    """What the apply will do. `new` is the commit that the branch moves to (without a branch: the
    tree that the files go to); None if there are conflicts."""

    target: Target
    wanted: ApplySelection
    new: Sha | None
    tree: Sha
    commits: tuple[PlannedCommit, ...]
    message: str
    changes: tuple[Change, ...]
    stat: DiffStat
    conflicts: tuple[Conflict, ...]
    overlaps: Overlaps
    left_out: tuple[LeftOut, ...]
    gone_back: tuple[RawCommit, ...]  # the agent's commits that stay out: gone back from
    notes: tuple[str, ...]
    head: Sha | None
    merged: Merged
    side: Sha  # the tree of the task's own state
    unchanged: bool  # the task has changed nothing, or nothing since it was applied (`again`)
    again: bool
    traps: tuple[Trap, ...] = ()  # of what is applied, those that nobody has seen
    holds: bool = False  # nothing is applied until somebody has seen them

    @property
    def nothing_to_do(self) -> bool:
        return not self.changes and not self.conflicts


class History(NamedTuple):
    """The agent's commits that the apply carries to the target, oldest first.

    `gone_back` are commits that a rollback went back from; they are not carried.
    """

    head: Sha | None
    commits: tuple[RawCommit, ...]
    gone_back: tuple[RawCommit, ...] = ()

    has_target: frozenset[Sha] = frozenset()  # merges that brought in what the target has

    @property
    def linear(self) -> bool:
        """Whether the commits can be repeated one by one; merges of the target need not be."""
        return all(len(each.parents) == 1 or each.sha in self.has_target for each in self.commits)


def make_plan(
    sources: Sources, target: Target, wanted: ApplySelection, person: Person | None, *, look: bool
) -> ApplyPlan:
    """Return what the apply will do. Writes only on the bench.

    `person` may be None in mode `patch`. `look` also compares with the person's uncommitted files,
    for a preview; moving the checkout compares again, under git's lock.
    """
    bench = sources.bench
    target_tree = bench.tree_of(target.sha)
    start = Departure()
    if wanted.whole:
        start = departure(sources, target.branch, target.sha, wanted.snapshot)
    history = _history(sources, target, start) if wanted.whole else History(None, ())
    if history.head is not None:
        found = gone_back(sources, [history.head])
        history = _without_gone_back(sources, target, history, found)
        wanted = _mode_without(sources, wanted, history, found)
    base = _base(sources, start)  # before the side, whose files the merge finds on the bench
    side = state_at(sources, wanted.snapshot, since=wanted.start, paths=wanted.paths)
    if history.head is not None and (history.commits or start.commit is not None):
        behind = [each.sha for each in history.gone_back]
        side = with_commits(sources, side, history.head, gone_back=behind)
        if start.applied is not None and start.heads:
            base = with_applied(sources, base, start.heads[0], start.applied, behind)
    unfinished = unfinished_in_workspace(sources)
    refuse_unresolved(sources, side.tree, start.conflicts, unfinished)
    place = files_place(bench, sources.user) if side.attributes else None
    merged = merge_trees(bench, base=base, ours=target_tree, theirs=side.tree, place=place)
    changes, stat = counted_paths(bench, target_tree, merged.tree)
    made = _Made(new=None, commits=(), message="", conflicts=merged.conflicts)
    if not merged.conflicts and changes:
        made = _commits(sources, target, wanted, person, history, side, merged)
    in_the_way = Overlaps(changed=(), unknown=())
    if look and target.checkout is not None:
        in_the_way = overlaps(bench.repository, sources.user, target.checkout, changes)
    return ApplyPlan(
        target=target,
        wanted=wanted,
        new=made.new,
        tree=merged.tree,
        commits=made.commits,
        message=made.message,
        changes=tuple(changes),
        stat=stat,
        conflicts=made.conflicts,
        overlaps=in_the_way,
        left_out=side.left_out,
        gone_back=history.gone_back,
        notes=(*_notes(sources, history, wanted, unfinished), *side.notes, *made.notes),
        head=history.head,
        merged=merged,
        side=side.tree,
        unchanged=side.tree == base,
        again=start.snapshot is not None,
    )


def _notes(
    sources: Sources, history: History, wanted: ApplySelection, unfinished: Unfinished | None
) -> tuple[str, ...]:
    notes = [] if sources.last is None else [sources.last.sentence]
    count = len(history.gone_back)
    if count and not wanted.chosen:  # `_mode_without` chose the mode
        which = "a commit" if count == 1 else f"{count} commits"
        notes.append(
            f"the branch still has {which} that a rollback went back from: everything else is "
            "applied as one commit"
        )
    if unfinished is not None:
        notes.append(f"{unfinished.what} in the workspace: its files go in as they are now")
    return tuple(notes)


class _Made(NamedTuple):
    new: Sha | None
    commits: tuple[PlannedCommit, ...]
    message: str
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()


def _base(sources: Sources, start: Departure) -> Sha:
    """Return the tree that the task's change is relative to."""
    if start.commit is not None:
        return sources.bench.tree_of(start.commit)
    if start.snapshot is not None:
        return state_at(sources, start.snapshot).tree
    return sources.base_tree


def _history(sources: Sources, target: Target, start: Departure) -> History:
    """Return the agent's commits since the departure that the target does not have."""
    bench, base, head = sources.bench, sources.workspace.base_commit, sources.head()
    if head is None or head == base:
        return History(head, ())
    from siding.applying.git.commit_graph import commits_since

    known = [base, target.sha, *start.heads, *([start.commit] if start.commit else [])]
    shas = commits_since(bench, head, known)
    commits = tuple(read_commits(bench, shas))
    return History(head, commits, has_target=_merges_of(bench, commits, target.sha))


def _merges_of(bench: Bench, commits: Sequence[RawCommit], target: Sha) -> frozenset[Sha]:
    """Return the merges whose other side the target has, with no conflict that was resolved."""
    merges = [each for each in commits if len(each.parents) == 2]
    if bench.git.version() < NEEDED:
        return frozenset()
    return frozenset(
        each.sha
        for each in merges
        if bench.repository.is_ancestor(each.parents[1], target)
        and merge_commits(bench, ours=each.parents[0], theirs=each.parents[1]).tree == each.tree
    )


def _without_gone_back(
    sources: Sources, target: Target, history: History, found: GoneBack
) -> History:
    """Return the history with the commits that a rollback went back from moved to `gone_back`.

    Those that are on the target already stay where they are.
    """
    assert history.head is not None
    if not found.behind(history.head):
        return history
    from siding.applying.git.commit_graph import commits_since

    base = sources.workspace.base_commit
    # A commit that was applied as a rewritten commit, and then gone back from, counts too: a merge
    # commit would bring the original into the target's history.
    pending = commits_since(sources.bench, history.head, [base, target.sha])
    behind = found.commits.intersection(pending)
    return history._replace(
        commits=tuple(each for each in history.commits if each.sha not in behind),
        gone_back=described(sources.bench, found, behind),
    )


def _mode_without(
    sources: Sources, wanted: ApplySelection, history: History, found: GoneBack
) -> ApplySelection:
    """Return the selection with a mode that does not publish commits that were gone back from.

    Raises WouldPublish if the person named a mode that would.
    """
    if not history.gone_back or wanted.mode in (Mode.SQUASH, Mode.PATCH):
        return wanted
    if not wanted.chosen:
        return wanted._replace(mode=Mode.SQUASH)
    assert history.head is not None
    raise WouldPublish(
        f"--mode {wanted.mode.value} would publish what was gone back from",
        history.gone_back,
        hint="nothing was changed. --mode squash applies the files as they are, without these "
        f"commits; {way_out(sources, found, history.head)} takes the branch back before them, and "
        "leaves the files",
    )


def _commits(
    sources: Sources,
    target: Target,
    wanted: ApplySelection,
    person: Person | None,
    history: History,
    side: Side,
    merged: Merged,
) -> _Made:
    """Write the commits of the mode on the bench. The last one has the merged tree."""
    if wanted.mode is Mode.PATCH or person is None:
        return _Made(new=merged.tree, commits=(), message="")
    maker = _Maker(sources, wanted, person)
    if wanted.mode is Mode.SQUASH or (not history.commits and wanted.mode is not Mode.MERGE):
        return maker.one(target, merged, history)
    from siding.applying.links import refuse_links, stray_links

    theirs = (sources.base_tree, sources.bench.tree_of(target.sha))
    stray = stray_links(sources.bench, history.commits, theirs)
    if wanted.mode is Mode.MERGE:
        refuse_links(stray)
        return _merge(maker, target, history, side, merged)
    stray = tuple({*side.stray, *stray})
    replayed = maker.replay(target, history, merged, stray) if history.linear else None
    if replayed is not None and not replayed.conflicts:
        return replayed
    if wanted.mode is Mode.REBASE:
        if replayed is None:
            raise SidingError(
                "the agent's history has merges in it, which cannot be rebased",
                hint="--mode merge keeps them; --mode squash makes one commit",
            )
        return replayed
    one, count = maker.one(target, merged, history), len(history.commits)
    which = f"{count} commits cannot be carried one by one onto {target.branch}: they are"
    if count == 1:
        which = f"commit cannot be carried as it is onto {target.branch}: its change is"
    return one._replace(notes=(f"the agent's {which} applied as one commit",))


class _Maker:
    """Writes the task's commits on the bench, with its trailers, in the person's name."""

    def __init__(self, sources: Sources, wanted: ApplySelection, person: Person) -> None:
        self.sources, self.wanted, self.person = sources, wanted, person
        self.bench = sources.bench
        task = sources.task
        self.name = title_of(sources.project, task, sources.workspace.base_snapshot)
        own = task_trailers(sources.project, task, wanted.steps)
        self.trailers = (*own, *(("Co-authored-by", each) for each in wanted.co_authors))

    def message(self, text: str) -> str:
        return with_trailers(text, self.trailers)

    def write(
        self, tree: Sha, parents: tuple[Sha, ...], message: str, author: bytes | None = None
    ) -> Sha:
        commit = NewCommit(tree=tree, parents=parents, message=message, author=author)
        return write_commit(self.bench, commit, self.person, sign=self.wanted.sign)

    def one(self, target: Target, merged: Merged, history: History) -> _Made:
        text = self.wanted.message or self.name
        if history.commits and self.wanted.message is None:
            text += "\n\n" + "\n".join(f"* {commit.subject}" for commit in history.commits)
        message = self.message(text)
        sha = self.write(merged.tree, (target.sha,), message)
        subject = message.partition("\n")[0]
        return _Made(sha, (PlannedCommit(sha, subject, None),), message)

    def replay(
        self, target: Target, history: History, merged: Merged, stray: Sequence[bytes]
    ) -> _Made:
        """Repeat the agent's commits on the target one by one, and commit the rest as one more.

        The links `stray` are left out of them. Stops at the first commit that conflicts, with
        `conflicts` in the result.
        """
        from siding.applying.links import without_links

        at, tree = target.sha, self.bench.tree_of(target.sha)
        made: list[PlannedCommit] = []
        message = ""
        for commit in history.commits:
            if commit.sha in history.has_target:
                continue
            parent = self.bench.tree_of(commit.parents[0])
            before = without_links(self.bench, parent, stray)
            there = without_links(self.bench, commit.tree, stray)
            step = merge_trees(self.bench, base=before, ours=tree, theirs=there)
            if step.conflicts:
                return _Made(None, (), "", step.conflicts)
            after = step.tree
            if after == tree and commit.tree != parent:
                continue  # the target has it already
            message = self.message(commit.text)
            author = commit.author or None
            at, tree = self.write(after, (at,), message, author), after
            made.append(PlannedCommit(at, commit.subject, commit.sha))
        if tree != merged.tree:
            message = self.message(self.wanted.message or self.name)
            at = self.write(merged.tree, (at,), message)
            made.append(PlannedCommit(at, message.partition("\n")[0], None))
        return _Made(at, tuple(made), message)


def _merge(maker: _Maker, target: Target, history: History, side: Side, merged: Merged) -> _Made:
    """Write a merge commit of the target and the agent's history.

    What the agent left uncommitted is first committed on top of its history.
    """
    sources = maker.sources
    began, base = sources.workspace.base_commit, line_base(sources.project, sources.workspace)
    other = history.head if history.commits and history.head else base.commit
    if target.branch == sources.task.base_ref.removeprefix("refs/heads/"):
        refuse_dropped(sources, other, (began, base.commit), (target.sha,), "--mode merge")
    made = [PlannedCommit(c.sha, c.subject, c.sha) for c in history.commits]
    if maker.bench.tree_of(other) != side.tree:
        message = maker.message(maker.wanted.message or maker.name)
        other = maker.write(side.tree, (other,), message)
        made.append(PlannedCommit(other, message.partition("\n")[0], None))
    default = f"Merge task {maker.name!r}"
    message = maker.message(maker.wanted.message or default)
    sha = maker.write(merged.tree, (target.sha, other), message)
    made.append(PlannedCommit(sha, message.partition("\n")[0], None))
    return _Made(sha, tuple(made), message)


def steps_text(numbers: Sequence[int]) -> str:
    """Return a range of step numbers as a trailer has it: ``0003`` or ``0001-0007``."""
    if not numbers:
        return ""
    first, last = min(numbers), max(numbers)
    return step_id(first) if first == last else f"{step_id(first)}-{step_id(last)}"
