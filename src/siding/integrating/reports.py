"""What an integrated agent reports from where a person has started it, without a run.

In a task's workspace a turn is a step. In a checkout it is kept beside the branch. Words of agents
are untrusted, as those of a run are: they name a turn, and allow nothing.
"""

from collections.abc import Mapping
from typing import Any

from siding.agents.hooks import Answer, Moment, Report, adapter_of
from siding.ground.errors import NotFound, NotInitialised, UsageError
from siding.ground.git.errors import NotARepository
from siding.integrating.in_checkout import checkout_turn
from siding.integrating.in_workspace import workspace_turn
from siding.record.place.project import Project, require_project
from siding.record.place.selection import standing_in
from siding.record.place.wiring import App
from siding.record.runs.run import LONGEST_PROMPT

_LONGEST_ID = 400
_KNOWN = (Moment.SESSION, Moment.PROMPT, Moment.STOPPED, Moment.FAILED)


def reported(app: App, name: str, payload: Mapping[str, Any]) -> Answer:
    """Record what an agent has reported, and return what it is told.

    Nothing is recorded where there is no project. Raises NotFound and UsageError.
    """
    adapter = adapter_of(name)
    if adapter is None:
        raise NotFound(f"{name!r} is no agent that reports")
    said = adapter.read(payload)
    if said is None or said.moment not in _KNOWN:
        return Answer()
    if not said.session:
        raise UsageError(f"{name} does not say which conversation it is")
    try:
        project = require_project(app)
    except (NotInitialised, NotARepository):
        return Answer()
    known = _known(project, said)
    task_id = standing_in(project)
    if task_id is not None:
        return workspace_turn(project, project.tasks.load(task_id), name, adapter, known)
    checkout = project.checkout
    if checkout is not None:
        checkout_turn(project, checkout, name, adapter, known)
    return Answer()


def _known(project: Project, said: Report) -> Report:
    """Return a report without secrets, and no longer than what is kept."""
    clean = project.redaction.text
    return said._replace(
        session=clean(said.session)[:_LONGEST_ID],
        turn=clean(said.turn)[:_LONGEST_ID],
        transcript=clean(said.transcript)[:LONGEST_PROMPT],
        text=clean(said.text)[:LONGEST_PROMPT],
    )
