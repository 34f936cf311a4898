"""Turns of an agent that a person has started by themselves in a task's workspace."""

from siding.agents.hooks import Adapter, Answer, Report
from siding.broker.taken_back import News, news
from siding.ground.namedtuples import NamedTuple
from siding.integrating.conversation import file_of, heard, keep
from siding.record.place.project import Project
from siding.record.runs.reported import Reported, read_reported_in
from siding.record.tasks.task import Task
from siding.running.checkpoint import record_turn_alone, settle_before_turn, words_of_turn
from siding.running.typed import TypedInTurn
from siding.usage.of_run import UsedInTurn, with_used_since

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
