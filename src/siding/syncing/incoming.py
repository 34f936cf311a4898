"""Find what a sync brings in: the base branch as it is now, and the commits that the task lacks."""

from siding.applying.content import Sources
from siding.applying.git.commit_graph import commits_since
from siding.applying.git.commits import RawCommit, read_commits
from siding.ground.errors import UsageError
from siding.ground.git.errors import GitError, UnknownRevision
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
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
