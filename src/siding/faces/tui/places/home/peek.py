"""The pane below the list: what a row is at, without opening it. Pure.

Looking at it is not looking at the task: the row stays unseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from siding.faces.tui.cards.card import wrapped
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.text import cut, inert
from siding.feed.model import Row
from siding.ground.errors import counted

if TYPE_CHECKING:
    from siding.faces.plans.plan import ActPlan
    from siding.faces.tui.acts.reading import Peek


def head_pieces(row: Row, width: int) -> Pieces:
    """Return the first row of the pane: which task, how far, how much."""
    parts = [row.project_name, row.name]
    if row.steps:
        parts.append(counted(row.steps, "step"))
    if row.run:
        parts.append(f"{row.run} runs")
    if row.files:
        parts.append(f"{counted(row.files, 'file')} +{row.additions} -{row.deletions} to apply")
    if len(row.asks) > 1:
        parts.append(counted(len(row.asks), "question"))
    return [(cut(inert(" · ".join(each for each in parts if each)), width), "bold")]


def peek_rows(row: Row, peek: Peek | None, width: int, height: int) -> list[Pieces]:
    """Return the pane of a row that asks nothing."""
    rows = [head_pieces(row, width)]
    if peek is None or peek.key != row.key:
        return rows
    if peek.problem:
        return [*rows, *wrapped(peek.problem, width, "warn")][:height]
    if peek.prompt:
        rows += wrapped(peek.prompt, width, "text", first=("you   ", "you"))[:3]
    room = max(0, height - len(rows))
    rows += [[(cut(inert(each), width), "dim")] for each in peek.last_lines[-room:] if room]
    return rows[:height]


def plan_rows(row: Row, plan: ActPlan, again: str, width: int, height: int) -> list[Pieces]:
    """Return the pane of what an act would do: all that speaks against it first."""
    rows = [head_pieces(row, width), *wrapped(f"{plan.title}: {plan.sentence}", width, "bold")]
    for sentence in (*plan.stops, *plan.concerns):
        rows += wrapped(sentence, width, "bad")
    if again:
        rows += wrapped(again, width, "waits")
    for note in plan.notes:
        rows += wrapped(note, width, "warn")
    for commit in plan.commits:
        rows += wrapped(commit, width, "text", first=("  commit ", "dim"))
    for group in plan.groups:
        look = "bad" if group.tone in ("stop", "delete") else "dim"
        rows += wrapped(f"{group.what}: {counted(group.many, 'path')}", width, look)
        rows += [piece for path in group.paths for piece in wrapped(f"  {path}", width, "text")]
    if len(rows) <= height:
        return rows
    return [*rows[: height - 1], [(f"and {len(rows) - height + 1} more rows", "dim")]]
