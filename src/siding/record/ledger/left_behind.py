"""Find the agent's commits and the steps that a rollback left behind. Pure.

A rollback restores files and does not move the branch, so commits from before the rollback are
still in the history of HEAD. They must not be published. A commit is left behind by a rollback if
HEAD contained it at that moment and the restored state did not contain it, or had left it behind
already. An undo and a redo are such steps as well: the state before a rollback contains its
commits, so an undo that restores this state makes them valid again.

If something is unknown (a ledger of an older version, a step that was cut off), more commits count
as left behind, never fewer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.move_details import RollbackDetail
from siding.record.ledger.step import Step, StepStatus

Member = TypeVar("Member")
Graph = Mapping[str, Sequence[str]]
"""The parents of each commit since the task's base. Any other commit belongs to the base."""


class Return(NamedTuple):
    """A step that restored the files as they were after another step."""

    number: int
    to: int | None  # the number of that other step; 0 for the base, None if it is unknown
    partly: bool  # only some paths were restored, or the step was cut off
    reverses: int | None  # for an undo or redo of some paths: the number of the step it reverses


def returns_in(steps: Iterable[Step], base_snapshot: str) -> list[Return]:
    """Return every step that restored an earlier state, oldest first."""
    found: list[Return] = []
    snapshots: dict[int, str | None] = {0: base_snapshot}
    newest: dict[str, int] = {}  # an act's id -> the number of the last step that did or undid it
    for step in steps:
        snapshots[step.number] = step.snapshot
        act = step.reversal.of or ""
        completed = step.status == StepStatus.COMPLETED
        back = step.as_rollback
        if back is not None and step.goes_back:
            limited = bool(back.paths)
            found.append(
                Return(
                    number=step.number,
                    to=_destination(back, snapshots),
                    partly=limited or not completed,
                    reverses=newest.get(act) if limited and completed else None,
                )
            )
        if completed or not act:
            newest[act or step.id] = step.number
    return found


def left_behind(
    returns: Sequence[Return],
    heads: Mapping[int, str | None],
    present: Sequence[str],
    graph: Graph,
) -> frozenset[str]:
    """Return the commits of `graph` that a rollback left behind and that no later step restored.

    `heads` maps the number of a step to HEAD after it (0: at the base), as far as it is known.
    `present` is HEAD now.
    """
    after: list[tuple[int, frozenset[str]]] = [(0, frozenset())]
    for step in returns:
        moment = {
            head
            for number in (step.number - 1, step.number)
            for head in _head_at(number, heads, present)
        }
        there = heads.get(step.to) if step.to is not None else None
        gone = ancestry(graph, moment) - ancestry(graph, [there] if there else [])
        before = after[-1][1]
        if step.to is not None:
            gone |= _at(after, step.to)
        if step.reverses is not None:
            added = _at(after, step.reverses) - _at(after, step.reverses - 1)
            before -= added
        keeps = step.partly or step.to is None
        after.append((step.number, gone | before if keeps else gone))
    return after[-1][1]


def abandoned_steps(steps: Iterable[Step], returns: Sequence[Return]) -> frozenset[int]:
    """Return the numbers of the steps that a rollback left behind."""
    by_number = {each.number: each for each in returns}
    line: frozenset[int] = frozenset()
    lines: list[tuple[int, frozenset[int]]] = [(0, line)]
    numbers = set()
    for step in steps:
        numbers.add(step.number)
        back = by_number.get(step.number)
        if back is not None and not back.partly:
            line = _at(lines, back.to) if back.to is not None else frozenset()
        line |= {step.number}
        lines.append((step.number, line))
    return frozenset(numbers - line)


def ancestry(graph: Graph, tips: Iterable[str]) -> frozenset[str]:
    """Return `tips` and their ancestors, as far as they are in `graph`."""
    found: set[str] = set()
    waiting = [tip for tip in tips if tip in graph]
    while waiting:
        commit = waiting.pop()
        if commit not in found:
            found.add(commit)
            waiting += [parent for parent in graph[commit] if parent in graph]
    return frozenset(found)


def newest_clean(graph: Graph, head: str, left: frozenset[str], base: str) -> str:
    """Return the newest commit without a left-behind commit in its history.

    Only HEAD and its first parents are considered.
    """
    at = head
    while at in graph and ancestry(graph, [at]) & left:
        if not graph[at]:
            return base  # a root commit without parents: the whole unrelated history is left behind
        at = graph[at][0]
    return at


def _destination(back: RollbackDetail, snapshots: Mapping[int, str | None]) -> int | None:
    """Return the number of the step whose state was restored; None if the ledger is ambiguous."""
    if back.target_step is None and back.target != "base":
        return None
    try:
        number = int(back.target_step or 0)
    except ValueError:
        return None
    known = number in snapshots and back.restored in (None, snapshots[number])
    return number if known else None


def _head_at(number: int, heads: Mapping[int, str | None], present: Sequence[str]) -> Sequence[str]:
    """Return HEAD after a step; if it is unknown, the next HEAD that is known."""
    later = (heads[each] for each in sorted(heads) if each >= number)
    found = next((head for head in later if head), None)
    return [found] if found else present


def _at(after: Sequence[tuple[int, frozenset[Member]]], number: int) -> frozenset[Member]:
    """Return the value that was valid after step `number`: that of the last entry up to it."""
    return next(value for at, value in reversed(after) if at <= number)
