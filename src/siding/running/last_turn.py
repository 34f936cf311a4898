"""Record the turn that was under way when the command of a run ended.

An agent that gives up, or is interrupted or killed, does not say that its turn is over. What it did
until then belongs to its prompt all the same.
"""

from contextlib import suppress

from siding.agents.hooks import adapter_of
from siding.asking.approvals import end_questions
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.runs.reported import read_reported, write_reported
from siding.record.runs.run import Run
from siding.running.checkpoint import ENDED, record_turn, words_of_turn
from siding.running.typed import TypedInTurn
from siding.usage.of_run import UsedInTurn


def record_last_turn(project: Project, task_id: TaskId, run: Run) -> None:
    """Record the open turn of a run whose command has ended, if it has one.

    If that fails, what it did is in the step of the run, which says in which prompt it was.
    """
    layout = project.task_layout(task_id)
    with suppress(SidingError, OSError):  # who reads questions ends them as well
        end_questions(project, task_id, run.id)
    found = read_reported(layout, run.id)
    if found is None or not found.in_turn or not run.is_recorded:
        return
    used = UsedInTurn(project.app, run.started_at, found)
    adapter = adapter_of(run.agent) if run.agent else None
    later = TypedInTurn(project.app, adapter, found, project.redaction.text)
    words = words_of_turn(found, used, ENDED, later)
    try:
        record_turn(
            project,
            task_id,
            run.id,
            ENDED,
            words,
            only_if_changed=found.is_kept,
            # Its agent may have told of the end as it went, and its broker is at it.
            unless_ended=not found.is_kept,
        )
        write_reported(layout, run.id, used.after._replace(in_turn=False))
    except (SidingError, OSError) as error:
        project.app.warn(f"{run.id}: its last turn could not be recorded: {error}")
