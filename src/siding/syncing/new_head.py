"""What a sync brings in, and where HEAD goes: by a merge, or by repeating the commits."""

from enum import StrEnum

from siding.applying.content import Sources
from siding.applying.git.commit_graph import commits_since
from siding.applying.git.commits import (
    AskedPerson,
    NewCommit,
    Person,
    RawCommit,
    read_commits,
    write_commit,
)
from siding.applying.git.merging import Merged, merge_commits, merge_trees
from siding.ground.errors import SidingError, UsageError
from siding.ground.git.command import Place
from siding.ground.git.errors import GitError, UnknownRevision
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.bench import Bench
from siding.record.recording.line_base import line_base

LISTED = 10  # the newest commits that are named one by one


class Incoming(NamedTuple):
    """A branch as the person named it, where it is, and the commits that HEAD does not have.

    `commits` is their number, and `newest` are the newest of them, newest first. If the branch that
    the task started from was rewritten, `old` is what the task has of it, and `dropped` are the
    newest commits that are not in it any more.
    """

    branch: str
    commit: Sha
    commits: int
    newest: tuple[RawCommit, ...]
    old: Sha | None = None
    dropped: tuple[RawCommit, ...] = ()
    dropped_count: int = 0

    @property
    def nothing_to_do(self) -> bool:
        return not self.commits and self.old is None


def incoming(sources: Sources, head: Sha, named: str | None) -> Incoming:
    """Return what `named`, by default the branch that the task started from, has since `head`.

    Raises UsageError and UnknownRevision.
    """
    repository, bench = sources.project.repository, sources.bench
    branch = named or sources.task.base_ref.removeprefix("refs/heads/")
    if branch == sources.task.branch:
        raise UsageError(f"{branch!r} is the task's own branch", hint="--onto names another one")
    try:
        commit = repository.branch(branch) if _can_be_branch(branch) else None
        commit = commit or repository.resolve(branch)
    except UnknownRevision:
        raise UnknownRevision(
            f"there is no branch {branch!r} to bring in",
            hint="--onto BRANCH names one (`git branch -a` lists them)",
        ) from None
    said = None if named is None else repository.ambiguity(named, commit)
    if said is not None:
        sources.project.app.warn(said)
    output = bench.git.run(
        bench.place(),
        ["rev-list", "--topo-order", commit, "--not", head],
        doing="listing what the branch has",
    )
    found = [Sha(line) for line in output.decode("ascii").split()]
    coming = Incoming(branch, commit, len(found), tuple(read_commits(bench, found[:LISTED])))
    return _with_dropped(sources, coming, head)


def _with_dropped(sources: Sources, coming: Incoming, head: Sha) -> Incoming:
    """Add what HEAD has of the branch that it started from, and that branch has not any more."""
    repository, bench = sources.project.repository, sources.bench
    old = rewritten_base(sources, coming.commit)
    if old is None or not repository.is_ancestor(old, head):
        return coming  # the agent has taken the task off it
    if not coming.commits and not repository.is_ancestor(coming.commit, old):
        return coming  # the agent has merged the branch as it is now
    dropped = commits_since(bench, old, [coming.commit])[::-1]
    return coming._replace(
        old=old,
        dropped=tuple(read_commits(bench, dropped[:LISTED])),
        dropped_count=len(dropped),
    )


def rewritten_base(sources: Sources, target: Sha | None = None) -> Sha | None:
    """Return what the task's change is counted from if the branch that it started from was
    rewritten, so that neither it nor `target` has this commit; else None."""
    repository = sources.project.repository
    old = line_base(sources.project, sources.workspace).commit
    try:
        tip = repository.branch(sources.task.base_ref.removeprefix("refs/heads/"))
    except GitError:  # it started from a tag or a commit
        return None
    if not old or tip is None:
        return None
    ends = {tip, target or tip}
    return None if any(repository.is_ancestor(old, end) for end in ends) else old


def _can_be_branch(name: str) -> bool:
    return not name.startswith("-") and not any(c in name for c in " ~^:?*[\\@{\0")


class How(StrEnum):
    """How HEAD comes to have the branch."""

    FAST_FORWARD = "fast-forward"  # the task has no commits of its own
    MERGE = "merge"
    REBASE = "rebase"


class CannotRebase(SidingError):
    """The task's commits cannot be repeated on the branch. Nothing was changed."""

    code = "cannot_rebase"


class NewHead(NamedTuple):
    """Where HEAD will be. With `conflict` it stays, and that merge is left to be finished there."""

    how: How
    commit: Sha
    repeated: int = 0  # commits that were repeated on the branch
    conflict: Merged | None = None


def new_head(
    sources: Sources, head: Sha, coming: Incoming, *, rebase: bool, place: Place | None
) -> NewHead:
    """Return where HEAD goes from `head`. New commits are written on the bench.

    Raises CannotRebase, NoIdentity and UnrelatedHistories.
    """
    bench, target = sources.bench, coming.commit
    known = [target] if coming.old is None else [target, coming.old]
    shas = commits_since(bench, head, known)
    if not shas:
        return NewHead(How.FAST_FORWARD, target)
    with AskedPerson(bench.git, bench.repository) as asked:
        if rebase or coming.old is not None:
            own = read_commits(bench, shas)
            try:
                _refuse_published(sources, own, known)
                return _repeated(bench, own, target, asked.answer(), coming.branch)
            except CannotRebase:
                if rebase:
                    raise
        merged = merge_in(bench, coming, head, bench.tree_of(head), place)
        if merged.conflicts:
            return NewHead(How.MERGE, head, conflict=merged)
        parents = (head, target)
        made = _merge(sources, merged.tree, parents, coming.branch, asked.answer())
        return NewHead(How.MERGE, made)


def merge_in(bench: Bench, coming: Incoming, head: Sha, tree: Sha, place: Place | None) -> Merged:
    """Return the merge of the branch with a tree that stands on the commit `head`.

    What the two histories have in common is the base of the merge. If the branch was rewritten, it
    is what the task has of it from before: else commits that were dropped would come back.
    """
    if coming.old is None:
        ours = head if tree == bench.tree_of(head) else bench.commit(tree, (head,))
        return merge_commits(bench, ours=ours, theirs=coming.commit, place=place)
    base, target = bench.tree_of(coming.old), bench.tree_of(coming.commit)
    return merge_trees(bench, base=base, ours=tree, theirs=target, place=place)


def merge_message(sources: Sources, branch: str) -> str:
    """Return the message of a merge commit, as git would write it."""
    return f"Merge branch '{branch}' into {sources.workspace.branch}\n"


def _merge(
    sources: Sources, tree: Sha, parents: tuple[Sha, ...], branch: str, person: Person
) -> Sha:
    commit = NewCommit(tree=tree, parents=parents, message=merge_message(sources, branch))
    return write_commit(sources.bench, commit, person, sign=False)


def _repeated(
    bench: Bench, own: list[RawCommit], target: Sha, person: Person, branch: str
) -> NewHead:
    """Repeat the commits on the target; one whose change the target has already is left out."""
    at, tree, count = target, bench.tree_of(target), 0
    for commit in own:
        if len(commit.parents) != 1:
            raise CannotRebase(
                f"the task's history has a merge in it ({commit.sha[:10]} {commit.subject})",
                hint="`siding sync` without --rebase merges; nothing was changed",
            )
        before = bench.tree_of(commit.parents[0])
        merged = merge_trees(bench, base=before, ours=tree, theirs=commit.tree)
        if merged.conflicts:
            named = ", ".join(quote_path(each.path) for each in merged.conflicts[:5])
            raise CannotRebase(
                f"{commit.sha[:10]} {commit.subject!r} and {branch} disagree about {named}",
                hint="`siding sync` without --rebase merges, and leaves the conflict in the "
                "workspace to be resolved; nothing was changed",
            )
        if merged.tree == tree and commit.tree != before:
            continue
        again = NewCommit(merged.tree, (at,), commit.text, commit.author or None)
        at, tree = write_commit(bench, again, person, sign=False), merged.tree
        count += 1
    return NewHead(How.REBASE, at, repeated=count)


def _refuse_published(sources: Sources, own: list[RawCommit], theirs: list[Sha]) -> None:
    """Raise CannotRebase if others may have one of these commits, of which the last is HEAD."""
    bench, shas = sources.bench, [commit.sha for commit in own]
    known = sources.task.metadata.get("pull_request")
    last = str(known.get("commit")) if isinstance(known, dict) else ""
    listing = ["rev-list", *shas[-1:], "--not", *theirs, "--remotes"]
    listing += [last] if last in shas else []
    done = bench.git.run(bench.place(), listing, doing="looking at what was pushed")
    pushed = len(shas) - len(done.split())
    if pushed:
        raise CannotRebase(
            f"{pushed} of the task's commits were pushed: a rebase would make others' copies of "
            "them useless",
            hint="`siding sync` without --rebase merges; nothing was changed",
        )
