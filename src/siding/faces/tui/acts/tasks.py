"""Acts on the tasks of home: stop, close, apply, undo, a word to the agent. In a thread."""

from collections.abc import Callable, Sequence

from siding.chat.held_runs import HeldRuns
from siding.faces.plans.acts import carry_out, plan
from siding.faces.plans.plan import ActPlan, ActRequest
from siding.faces.tui.acts import workflows
from siding.faces.tui.acts.starting import next_run
from siding.feed.model import Row, RowKind
from siding.ground.errors import SidingError, UsageError, counted
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project, named_project
from siding.record.place.wiring import App
from siding.running.attach import send
from siding.running.stop import stop as stop_runs
from siding.undo.undo import UndoRequest, undo


class Happened(NamedTuple):
    """What an act on one row came to."""

    row: Row
    said: str
    failed: bool = False


def project_of_row(app: App, row: Row) -> Project:
    """Return the project that a row is of. Raises NotFound."""
    return named_project(app._replace(project=row.project))


def stop(app: App, row: Row) -> str:
    """End what runs in a task, or the run of a workflow; also what ended runs have left."""
    project = project_of_row(app, row)
    if row.kind is RowKind.WORKFLOW:
        return workflows.kill(project, row.id)
    if row.kind is RowKind.CHAT:
        return HeldRuns(project).stop(_task_of_chat(row), row.id)
    if row.kind is RowKind.AGENT:
        raise UsageError(
            "an agent of a workflow is ended with its run", hint="choose the workflow's row"
        )
    done = stop_runs(project, row.id, (), every=True)
    named = [each.run.id for each in done.runs]
    left = sum(len(each.ended) for each in done.left)
    also = [f"{counted(left, 'process', 'processes')} that were left running"] if left else []
    return f"ended {', '.join([*named, *also]) or 'nothing: nothing ran any more'}"


def planned(app: App, row: Row, act: str) -> ActPlan:
    """Return what an act would do to the task of a row now."""
    return plan(project_of_row(app, row), _task(row), ActRequest(act))


def carried_out(app: App, row: Row, act: str, digest: str) -> str:
    """Carry out the plan with this digest, which a person has seen; return what was done."""
    return carry_out(project_of_row(app, row), _task(row), ActRequest(act), digest).said


def planned_and_done(app: App, row: Row, act: str) -> str:
    """Plan an act and carry it out: of several tasks nobody reads each plan."""
    found = planned(app, row, act)
    return carried_out(app, row, act, found.digest)


def undo_apply(app: App, row: Row) -> str:
    """Take the newest apply of a task back. One that it closed is opened again first."""
    project = project_of_row(app, row)
    done = undo(project, UndoRequest(task=_task(row)))
    if done.reopened is not None:
        done = undo(project, UndoRequest(task=_task(row)))
    return done.what


def one_after_the_other(
    rows: Sequence[Row], act: Callable[[Row], str], tell: Callable[[str], None]
) -> list[Happened]:
    """Do an act to each row; return what happened to each. One that fails does not end the rest."""
    found = []
    for number, row in enumerate(rows, start=1):
        tell(f"{number}/{len(rows)} {row.name}")
        try:
            found.append(Happened(row, act(row)))
        except SidingError as error:
            hint = f"; {error.hint}" if error.hint else ""
            found.append(Happened(row, f"{error.message}{hint}", failed=True))
        except OSError as error:
            found.append(Happened(row, str(error), failed=True))
    return found


def follow_up(app: App, row: Row, text: str) -> str:
    """Give the agent of a task a prompt: into the queue of its conversation, or typed into the run
    that lives.

    Where none lives, the text is a command that runs next in the task.
    """
    project = project_of_row(app, row)
    held = HeldRuns(project)
    if row.kind is RowKind.CHAT:
        held.give(_task_of_chat(row), row.id, text)
        return f"{row.id} gets it as its next prompt"
    if row.run and (chat := held.chat_of(_task(row), row.run)):
        held.give(_task(row), chat, text)
        return f"{chat} gets it as its next prompt"
    if not row.run:
        return next_run(project, _task(row), text)
    send(project, _task(row), row.run, text=text, enter=True, keys=(), data=None)
    return f"sent to {row.run}"


def _task_of_chat(row: Row) -> TaskId:
    return TaskId(row.parent.rpartition("/")[2])


def _task(row: Row) -> TaskId:
    if row.kind is not RowKind.TASK:
        raise UsageError(
            f"this is about a task, and {row.name!r} is a {row.kind}", hint="choose its task"
        )
    return TaskId(row.id)
