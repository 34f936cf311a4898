"""The states of a task that a search goes through: one for each step of its line that changed it.

The line are the steps that led to the present state (`record/ledger/present_line.py`); what was
left behind broke nothing that is there now. A state that is the same as the one before it, files
and permissions, is not looked at twice.
"""

from collections.abc import Sequence

from siding.forks.state import recorded
from siding.ground.errors import NotFound, UsageError
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.ids import Sha, step_number
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.kinds import BASE
from siding.record.ledger.present_line import present_line
from siding.record.ledger.step import Step
from siding.record.ledger.turns import reported_turns
from siding.record.place.project import Project
from siding.record.place.task_workspace import require_workspace
from siding.record.runs.reported import title_of
from siding.record.snapshots.modes import named_in
from siding.record.tasks.task import Task

NOW, LAST = "now", "last"


class State(NamedTuple):
    """A recorded state. `step` is the id of the step that led to it, or "base"."""

    step: str
    snapshot: Sha


class Range(NamedTuple):
    """From where to where, as a person says it: a step's number, `base`, `last` or `now`."""

    first: str = BASE
    last: str = NOW


def range_of(text: str) -> Range:
    """Return the range that ``A..B``, ``A..``, ``..B`` or ``A`` names."""
    first, _dots, last = text.partition("..")
    return Range(first or BASE, last or NOW)


def states_of(project: Project, task: Task, wanted: Range) -> list[State]:
    """Return the states of the task's line within the range, oldest first.

    Changes that no step has yet are recorded first if the range reaches to now. Raises NotFound for
    a step that is not there, UsageError for one that is not on the line, and for a range without a
    step in it.
    """
    if NOW in wanted:
        recorded(project, task)
    steps = list(project.ledger(task.id).steps())
    line = [each for each in steps if each.number in present_line(steps).line and each.snapshot]
    base = require_workspace(project, task).base_snapshot
    numbers = [0, *(each.number for each in line)]
    first, last = (_place(point, numbers, steps, task) for point in wanted)
    if last < first:
        raise UsageError(
            f"{wanted.last} comes before {wanted.first}", hint="siding bisect OLDER..NEWER"
        )
    all_states = [State(BASE, Sha(base)), *(State(s.id, Sha(str(s.snapshot))) for s in line)]
    found = _that_differ(project, all_states[first : last + 1])
    if len(found) < 2:
        raise UsageError(
            f"nothing changed in task {task.name!r} between {wanted.first} and {wanted.last}",
            hint="`siding log` shows the steps, and what each of them changed",
        )
    return found


def _place(point: str, numbers: Sequence[int], steps: Sequence[Step], task: Task) -> int:
    """Return at which place of the line a point is."""
    if point == BASE:
        return 0
    if point in (NOW, LAST):
        return len(numbers) - 1
    try:
        number = step_number(point)
    except ValueError:
        raise UsageError(
            f"{point!r} is not a step", hint="A..B: two of 3, 0003, base, last and now"
        ) from None
    if number in numbers:
        return numbers.index(number)
    if any(step.number == number for step in steps):
        raise UsageError(
            f"step {number:04d} did not lead to the present state of task {task.name!r}",
            hint="`siding log` shows in brackets what was left behind",
        )
    raise NotFound(f"task {task.name!r} has no step {point!r}", hint="`siding log` shows them")


def _that_differ(project: Project, states: Sequence[State]) -> list[State]:
    found: list[State] = []
    before: object = None
    for state in states:
        content = _content(project, state)
        if content != before:
            found.append(state)
        before = content
    return found


def _content(project: Project, state: State) -> object:
    """Return what two states have in common if they are the same to a program that runs there.

    A state that is freed or damaged is like no other; the look at it says what is wrong.
    """
    try:
        commit = project.snapshots.read_commit(state.snapshot)
    except SnapshotDamaged:
        return state
    return commit.tree, named_in(commit)


class Cause(NamedTuple):
    """The step that led to a state, its agent, and the prompt that asked for it.

    `agent` and `prompt` are "" if none is known; `turn` is the id of the step of the prompt's turn.
    """

    step: Step
    agent: str = ""
    prompt: str = ""
    turn: str = ""


def cause_of(project: Project, task: Task, state: State) -> Cause | None:
    """Return what led to a state; None for the base."""
    steps = list(project.ledger(task.id).steps())
    step = next((each for each in reversed(steps) if each.id == state.step), None)
    if step is None:
        return None
    run = step.run or step.run_of_turn
    agent = next((each.agent for each in steps if each.run == run and each.agent), step.agent or "")
    for turn in reported_turns(steps):
        of = (turn.step.turn_of, turn.step.turn)
        if turn.step == step or (step.turn and (step.turn_of, step.turn) == of):
            return Cause(step, agent, title_of(turn.detail.prompts), turn.step.id)
    return Cause(step, agent)
