"""Find what a sync brings in: the base branch as it is now, and the commits that the task lacks."""

from siding.app.applying.content import Sources
from siding.errors import UsageError
from siding.git.applying.commits import RawCommit, read_commits
from siding.git.errors import UnknownRevision
from siding.ids import Sha
from siding.namedtuples import NamedTuple

LISTED = 10  # the newest commits that are named one by one


class Incoming(NamedTuple):
    """A branch as the person named it, where it is, and the commits that HEAD does not have.

    `commits` is their number, and `newest` are the newest of them, newest first.
    """

    branch: str
    commit: Sha
    commits: int
    newest: tuple[RawCommit, ...]


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
    return Incoming(branch, commit, len(found), tuple(read_commits(bench, found[:LISTED])))


def _can_be_branch(name: str) -> bool:
    return not name.startswith("-") and not any(c in name for c in " ~^:?*[\\@{\0")
