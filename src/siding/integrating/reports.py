"""What an integrated agent reports from where a person has started it, without a run.

In a task's workspace a turn is a step. In a checkout it is kept beside the branch. Words of agents
are untrusted, as those of a run are: they name a turn, and allow nothing.
"""

from collections.abc import Mapping
from typing import Any

from siding.agents.hooks import Adapter, Answer, Moment, Report, adapter_of
from siding.broker.news import News, news
from siding.ground.errors import NotFound, NotInitialised, UsageError
from siding.ground.git.errors import NotARepository
from siding.ground.namedtuples import NamedTuple
from siding.integrating.conversation import file_of, heard, keep
from siding.integrating.in_checkout import checkout_turn
from siding.record.place.project import Project, require_project
from siding.record.place.selection import standing_in
from siding.record.place.wiring import App
from siding.record.runs.reported import Reported, read_reported_in
from siding.record.runs.run import LONGEST_PROMPT
from siding.record.tasks.task import Task
from siding.running.agent_turn import TypedInTurn
from siding.running.checkpoint import record_turn_alone, settle_before_turn, words_of_turn
from siding.usage.of_run import UsedInTurn, with_used_since

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


_EVER = "1970-01-02T00:00:00Z"


def workspace_turn(
    project: Project, task: Task, name: str, adapter: Adapter, said: Report
) -> Answer:
    """Record what an agent reports, and return what it is told with its prompt."""
    path = file_of(project.task_layout(task.id).agents_dir, said.session)
    before = read_reported_in(path) or Reported()
    turns = WorkspaceTurns(project, task, name, adapter)
    now, answer = heard(project.app, turns, adapter, before, said)
    keep(project.app, path, now)
    return answer


class WorkspaceTurns(NamedTuple):
    """The turns of one conversation as steps of a task."""

    project: Project
    task: Task
    name: str
    adapter: Adapter

    def settle(self) -> None:
        settle_before_turn(self.project, self.task.id, self.name)

    def news(self, before: Reported) -> News:
        return news(self.project.ledger(self.task.id), before)

    def begin(self, now: Reported, said: Report) -> Reported:
        # What the conversation has used until now is not of this turn; of one that was woken it is.
        return now if now.woken_by else with_used_since(self.project.app, _EVER, now)

    def end(self, before: Reported, said: Report) -> tuple[str, ...]:
        """Record the turn as a step."""
        app = self.project.app
        used = UsedInTurn(app, _EVER, before, unwritten=said.unwritten, last_words=said.last_words)
        typed = TypedInTurn(app, self.adapter, before, self.project.redaction.text)
        words = words_of_turn(before, used, said.moment.value, typed)
        record_turn_alone(
            self.project,
            self.task,
            self.name,
            said.moment.value,
            words,
            only_if_changed=bool(before.woken_by),
        )
        return typed.next_ones
