"""Draw the steps of a task as a graph of lines. Pure."""

from collections.abc import Sequence

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.present_line import PresentLine
from siding.record.ledger.step import Step


class Drawn(NamedTuple):
    """One row: the columns of the graph, and the step.

    `stands_on` is the number of the step that this one stands on, if it begins a column; else None.
    """

    columns: str
    step: Step
    stands_on: int | None


def drawn(line: PresentLine, steps: Sequence[Step]) -> list[Drawn]:
    """Return the rows of a graph of the steps, oldest first; all have columns of equal width.

    Steps that only went to another state are left out. The present line is the first column; each
    other line has a column from the step on which it stands.
    """
    if not line.stands_on:
        return [Drawn("*", step, None) for step in steps]
    shown = [step for step in steps if step.number not in line.returns]
    numbers = {step.number for step in shown}
    children: dict[int, list[int]] = {}
    for step in shown:
        children.setdefault(line.stands_on[step.number], []).append(step.number)
    for following in children.values():
        following.sort(key=lambda number: (number not in line.line, number))
    roots = [each for on, found in children.items() if on not in numbers for each in found]
    roots.sort(key=lambda number: (number not in line.line, number))
    columns: list[int | None] = list(roots)
    begun = set(roots[1:])
    rows: list[tuple[list[str], Step]] = []
    for step in shown:
        at = columns.index(step.number)
        rows.append((_cells(columns, at), step))
        following = children.get(step.number, [])
        columns[at] = following[0] if following else None
        for number in following[1:]:
            begun.add(number)
            _open(columns, number)
    width = max((len(cells) for cells, _step in rows), default=0)
    return [
        Drawn(
            " ".join(cells + [" "] * (width - len(cells))),
            step,
            line.stands_on[step.number] if step.number in begun else None,
        )
        for cells, step in rows
    ]


def _cells(columns: Sequence[int | None], at: int) -> list[str]:
    return ["*" if i == at else " " if c is None else "|" for i, c in enumerate(columns)]


def _open(columns: list[int | None], number: int) -> None:
    """Give a step that comes later a column: the first free one but the present line's."""
    for index in range(1, len(columns)):
        if columns[index] is None:
            columns[index] = number
            return
    columns.append(number)
