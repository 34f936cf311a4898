"""Find the commits and steps of a task that a rollback went back from. They must not be published.

Git is not started if HEAD is at the task's base or the ledger has no rollback.
"""

from collections.abc import Collection, Sequence
from shlex import quote

from siding.applying.content import Sources
from siding.applying.git.commits import RawCommit, read_commits
from siding.ground.errors import SidingError
from siding.ground.git.objects import parse_commit
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.left_behind import (
    Graph,
    abandoned_steps,
    ancestry,
    left_behind,
    newest_clean,
    returns_in,
)
from siding.record.ledger.step import Step
from siding.record.moving.bench import Bench
from siding.record.snapshots.git_state import head_in

_NAMED = 5


class GoneBack(NamedTuple):
    """The commits and the step numbers that rollbacks went back from.

    `commits` need not be in the history of HEAD. `graph` maps each commit since the base to its
    parents, children first.
    """

    commits: frozenset[str]
    steps: frozenset[int]
    graph: Graph

    def behind(self, tip: Sha) -> frozenset[str]:
        """Return those of `commits` that are in the history of `tip`."""
        return ancestry(self.graph, [tip]) & self.commits


NOTHING = GoneBack(commits=frozenset(), steps=frozenset(), graph={})


class WouldPublish(SidingError):
    """Publishing was refused: it would include commits that a rollback went back from."""

    code = "gone_back_from"

    def __init__(self, message: str, commits: Sequence[RawCommit], hint: str) -> None:
        self.commits = tuple(commits)
        super().__init__(f"{message}: {named(commits)}", hint=hint)


def gone_back(sources: Sources, tips: Sequence[Sha]) -> GoneBack:
    """Return what rollbacks went back from in the history of `tips`, of which the first is HEAD."""
    base = sources.workspace.base_commit
    if all(tip == base for tip in tips):
        return NOTHING
    steps = list(sources.project.ledger(sources.task.id).steps())
    returns = returns_in(steps, sources.workspace.base_snapshot)
    if not returns:
        return NOTHING
    from siding.applying.git.commit_graph import parents_of

    heads = _heads(sources.bench, steps)
    known = [head for head in dict.fromkeys(heads.values()) if head]
    graph = parents_of(sources.bench, [*tips, *known], without=base)
    left = left_behind(returns, heads, tips, graph)
    abandoned = abandoned_steps(steps, returns) | {
        step.number for step in steps if left.intersection(step.commits)
    }
    return GoneBack(commits=left, steps=abandoned, graph=graph)


def described(bench: Bench, found: GoneBack, commits: Collection[str]) -> tuple[RawCommit, ...]:
    """Return these commits of the graph with their messages, oldest first."""
    wanted = [Sha(commit) for commit in reversed(list(found.graph)) if commit in commits]
    return tuple(read_commits(bench, wanted))


def way_out(sources: Sources, found: GoneBack, head: Sha) -> str:
    """Return the `git reset` command that takes the branch back before these commits."""
    clean = newest_clean(found.graph, head, found.commits, sources.workspace.base_commit)
    return f"`git -C {quote(sources.workspace.path)} reset {clean[:12]}`"


def named(commits: Sequence[RawCommit]) -> str:
    """Return the commits as text for a message: the first five by id and subject, then a count."""
    shown = ", ".join(f"{each.sha[:10]} {each.subject!r}" for each in commits[:_NAMED])
    more = f" and {len(commits) - _NAMED} more" if len(commits) > _NAMED else ""
    return shown + more


def _heads(bench: Bench, steps: Sequence[Step]) -> dict[int, Sha | None]:
    """Return where HEAD was after each step; None if that is not known or the commit is gone."""
    snapshots = list(dict.fromkeys(step.snapshot for step in steps if step.snapshot))
    bodies = dict(zip(snapshots, bench.find(snapshots, kind=b"commit"), strict=True))
    said = {step.number: _said(bodies.get(step.snapshot or "")) for step in steps}
    names = sorted({head for head in said.values() if head})
    there = dict(zip(names, bench.find(names, kind=b"commit"), strict=True))
    return {number: head if head and there[head] else None for number, head in said.items()}


def _said(body: bytes | None) -> Sha | None:
    return None if body is None else head_in(parse_commit(body).message)
