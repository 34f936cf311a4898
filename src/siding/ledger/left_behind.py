"""Which of the agent's commits, and which steps, a task was taken back from. Pure.

A rollback restores files and leaves the branch alone, so commits that were gone back from are still
in the history of HEAD. They must not be published. What counts is the state that the workspace was
taken to: commits that HEAD had at that moment and that the state did not have are left behind, and
so are those that were left behind in that state already. An undo and a redo are such steps like any
other: the state before a rollback has its commits, so going there makes them good again.

Where something is not known (a ledger of an older version, a step that was cut off) more commits
count as left behind, never fewer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from siding.ledger.details.rollback import RollbackDetail
from siding.ledger.step import Step, StepStatus

Member = TypeVar("Member")
Graph = Mapping[str, Sequence[str]]
"""The parents of each commit since the task's base. What is not in it belongs to the base."""


class Return(NamedTuple):
    """A step that took the files to the state after another step."""

    number: int
    to: int | None  # the step whose state that is: 0 for the base, None when it is not known
    partly: bool  # only some paths, or cut off half way
    reverses: int | None  # for the undo or redo of a part: the step that it takes back


def returns_in(steps: Iterable[Step], base_snapshot: str) -> list[Return]:
    """Return every step that took the files to an earlier state, oldest first."""
    found: list[Return] = []
    snapshots: dict[int, str | None] = {0: base_snapshot}
    newest: dict[str, int] = {}  # an act -> the step that did it or took it back last
    for step in steps:
        snapshots[step.number] = step.snapshot
        act = step.reversal.of or ""
        completed = step.status == StepStatus.COMPLETED
        back = step.as_rollback
        if back and step.goes_back:
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
    """Return the commits of `graph` that were gone back from and not returned to since.

    `heads` says where HEAD was after a step (0: at the base), as far as that is known; `present`
    is where it is now.
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
    """Return the steps that did not lead to the present state: they were gone back from."""
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
    """Return the commits of `graph` that `tips` lead to, themselves included."""
    found: set[str] = set()
    waiting = [tip for tip in tips if tip in graph]
    while waiting:
        commit = waiting.pop()
        if commit not in found:
            found.add(commit)
            waiting += [parent for parent in graph[commit] if parent in graph]
    return frozenset(found)


def newest_clean(graph: Graph, head: str, left: frozenset[str], base: str) -> str:
    """Return the newest commit of HEAD's own line (first parents) whose history has no commit that
    was left behind."""
    at = head
    while at in graph and ancestry(graph, [at]) & left:
        if not graph[at]:
            return base  # a history of its own, and all of it was left behind
        at = graph[at][0]
    return at


def _destination(back: RollbackDetail, snapshots: Mapping[int, str | None]) -> int | None:
    """Return the step whose state a rollback went to, if the ledger says that without doubt."""
    if back.target_step is None and back.target != "base":
        return None
    try:
        number = int(back.target_step or 0)
    except ValueError:
        return None
    known = number in snapshots and back.restored in (None, snapshots[number])
    return number if known else None


def _head_at(number: int, heads: Mapping[int, str | None], present: Sequence[str]) -> Sequence[str]:
    """Return HEAD after a step; where it is not known, the next HEAD that is."""
    later = (heads[each] for each in sorted(heads) if each >= number)
    found = next((head for head in later if head), None)
    return [found] if found else present


def _at(after: Sequence[tuple[int, frozenset[Member]]], number: int) -> frozenset[Member]:
    """Return what held after step `number`: what the last entry up to it says."""
    return next(value for at, value in reversed(after) if at <= number)
