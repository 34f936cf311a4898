"""Judge the assignments before a command."""

from collections.abc import Mapping

from siding.shellguard.budget import LONGEST_VALUE, Budget
from siding.shellguard.expansion import Expander
from siding.shellguard.fields import UNKNOWN
from siding.shellguard.state import ShellState
from siding.shellguard.tree import Simple


def assigned_by(command: Simple, expander: Expander) -> dict[str, str]:
    """Judge what the assignments of a command run; return the values by their names."""
    around, state = expander.around, expander.state
    assigned: dict[str, str] = {}
    for assignment in command.assignments:
        if assignment.subscript is not None:
            expander.subscript(assignment.subscript)
        if assignment.array is not None:
            elements = expander.elements(assignment.array)
            state.hold(assignment.name, elements, append=assignment.append)
            for element in elements if assignment.name in state.integers else ():
                around.evaluated(element, state)
            assigned[assignment.name] = UNKNOWN
            continue
        value = expander.single(assignment.value)
        if assignment.append:
            value = _appended(around.budget, state.variables.get(assignment.name, UNKNOWN), value)
        if assignment.subscript is not None or assignment.name in state.arrays:
            state.hold(assignment.name, [value], append=True)
        if assignment.name in state.integers:
            around.evaluated(value, state)
        assigned[assignment.name] = UNKNOWN if assignment.subscript is not None else value
    return assigned


def _appended(budget: Budget, value: str, more: str) -> str:
    if len(value) + len(more) > LONGEST_VALUE:
        return UNKNOWN
    budget.text(len(value) + len(more), "making a value")
    return value + more


def keep_assigned(assigned: Mapping[str, str], state: ShellState) -> None:
    """Enter what was assigned without a command: it lasts."""
    state.variables.update(assigned)
    if "IFS" in assigned:
        state.plain_splitting = False
