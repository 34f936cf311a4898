"""Show what an undo or redo would do. Changes nothing and takes no lock."""

from collections.abc import Iterator
from contextlib import contextmanager

from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.history import PastAct, Position, returns_to
from siding.record.place.project import Project
from siding.record.place.task_workspace import require_workspace
from siding.record.restoring.refusal import Reason, Refusal
from siding.record.restoring.survey import Destination, Survey, previewed
from siding.record.tasks.task import Task
from siding.undo.undo import choose, named_act, recent_position, request_for


class Coming(NamedTuple):
    """What the next undo or redo does. `survey` is set if it restores files of the workspace."""

    what: str
    step: str | None
    survey: Survey | None


@contextmanager
def coming(project: Project, named: str, word: str) -> Iterator[Coming]:
    """Yield what `word` ("undo" or "redo") would do. Raises Refusal."""
    task_id, away = choose(project, named, word)
    if away:
        if word == "redo":
            raise Refusal(Reason.TASK_IS_CLOSED, on_page=True, task=task_id)
        yield Coming(
            what="the task is opened again, its workspace comes back", step=None, survey=None
        )
        return
    task = project.tasks.load(task_id)
    steps, found = recent_position(task, project.ledger(task.id), word)
    act = _next(found, word, task)
    if act.step is None:
        yield Coming(what="the task is closed again", step=None, survey=None)
        return
    applied = act.step.as_apply
    if applied is not None:
        branch = applied.target_branch or "the checkout"
        verb = "taken back from" if word == "undo" else "applied again to"
        yield Coming(what=f"step {act.step.id} is {verb} {branch}", step=act.step.id, survey=None)
        return
    with _restoration(project, task, act, word) as planned:
        step, bracket, title = named_act(steps, act.step).partition(" (")
        yield Coming(what=f"{step} is {word}ne{bracket}{title}", step=act.step.id, survey=planned)


def _next(found: Position, word: str, task: Task) -> PastAct:
    acts = found.undoable if word == "undo" else found.redoable
    if not acts:
        if word == "undo":
            raise Refusal(Reason.NOTHING_TO_UNDO, on_page=True, task=task.name)
        raise Refusal(Reason.NOTHING_TO_REDO, on_page=True, task=task.name)
    return acts[-1]


@contextmanager
def _restoration(project: Project, task: Task, act: PastAct, word: str) -> Iterator[Survey]:
    assert act.step is not None
    assert act.by is not None
    snapshot = returns_to(act.by)
    if snapshot is None:
        raise Refusal(Reason.NOTHING_BEFORE, step=act.by.id)
    how = request_for(act, word)
    workspace = require_workspace(project, task)
    destination = Destination(Sha(snapshot), f"the state before step {act.by.id}", None)
    with previewed(project, workspace, destination, how) as found:
        yield found
