"""What one project adds to the feed: rows, asks, and sentences about what is damaged. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from siding.asking.views import InboxEntry, Waits
from siding.feed.asks import Question, ask_of
from siding.feed.model import Ask, AskKind, Row
from siding.feed.moments import moment_of
from siding.feed.rows import (
    Names,
    chat_row,
    task_key,
    task_row,
    workflow_key,
    workflow_rows,
)
from siding.feed.state import longest_waiting
from siding.feed.task_facts import TaskFacts
from siding.feed.workflow_facts import DAY_S, WorkflowFacts
from siding.ground.ids import TaskId, is_fork
from siding.ground.namedtuples import NamedTuple

__all__ = ["Made", "Names", "Part", "ProjectFacts", "part_of"]


# By the key of a row: what it was made of, and the row.
Made = dict[str, tuple[object, Row]]


class ProjectFacts(NamedTuple):
    """All that is known of a project."""

    tasks: Mapping[TaskId, TaskFacts]
    flows: Sequence[WorkflowFacts]
    questions: Sequence[Question]
    hooks: InboxEntry | None
    problems: tuple[str, ...]


class Part(NamedTuple):
    """What a project adds to the feed."""

    rows: tuple[Row, ...]
    asks: tuple[Ask, ...]
    problems: tuple[str, ...]
    done_before: int
    holds_until: float  # when a row of it gets too old to be shown; 0 for never


def part_of(names: Names, facts: ProjectFacts, now: float, made: Made) -> Part:
    """Return what a project adds to the feed at a moment, in seconds since 1970.

    `made` are the rows that were made before, and of what; those that are needed stay in it.
    """
    maker = _Maker(names, facts, now, made)
    rows = (*maker.task_rows(), *maker.flow_rows())
    return Part(
        rows=rows,
        asks=tuple(maker.asks),
        problems=tuple(f"project {names.project}: {each}" for each in facts.problems),
        done_before=maker.done_before,
        holds_until=maker.holds_until,
    )


class _Maker:
    def __init__(self, names: Names, facts: ProjectFacts, now: float, made: Made) -> None:
        self._names, self._facts, self._now, self._made = names, facts, now, made
        self.done_before, self.holds_until = 0, 0.0
        self._flows = [flow for flow in facts.flows if self._is_shown(flow)]
        self._of_forks = {
            TaskId(fork): workflow_key(names.project, flow.id)
            for flow in self._flows
            for fork in flow.forks
        }
        self.asks = [self._named(each) for each in facts.questions]
        for task in facts.tasks.values():
            self.asks += [ask_of(each, self._key_of(task.id)) for each in self._asking(task)]
        for flow in self._flows:
            if flow.stopped is not None:
                self.asks.append(ask_of(flow.stopped, workflow_key(names.project, flow.id)))
        if facts.hooks is not None:
            self.asks.append(ask_of(facts.hooks, ""))
        self.asks = longest_waiting(self.asks)
        self._by_row: dict[str, list[Ask]] = {}
        for ask in self.asks:
            self._by_row.setdefault(ask.row, []).append(ask)
        self._stopped: dict[str, list[Ask]] = {}
        for flow in self._flows:
            if flow.stopped is not None:
                key = workflow_key(names.project, flow.id)
                self._stopped.setdefault(flow.task, []).extend(self._by_row.get(key, ()))

    def task_rows(self) -> list[Row]:
        """Return the rows of the tasks: all that are open, and those that closed within a day."""
        rows = []
        working: dict[str, list[WorkflowFacts]] = {}
        for flow in self._flows:
            if flow.is_live:
                working.setdefault(flow.task, []).append(flow)
        for task in self._facts.tasks.values():
            if task.id in self._of_forks:
                continue  # the agent of the workflow has a row
            asks = self._asks_of_task(task)
            flows = working.get(task.id, [])
            if not (task.is_open or asks or flows or task.is_restless or self._is_new(task)):
                self.done_before += 1
                continue
            parent = task_key(self._names.project, task.work.parent) if is_fork(task.id) else ""
            rows.append(self._row(task, asks, parent, flows))
            rows += self._chat_rows(task)
        made = {row.key: self._made[row.key] for row in rows}
        self._made.clear()
        self._made.update(made)
        return rows

    def _chat_rows(self, task: TaskFacts) -> Iterable[Row]:
        """Yield the rows of the conversations of a task; one that was ended has one for a day."""
        asked = self._by_row.get(self._key_of(task.id), ()) if task.chats else ()
        for chat in task.chats:
            if chat.problem:
                continue
            if chat.is_ended and not self._is_within(moment_of(chat.since) + DAY_S):
                continue
            asks = [
                ask
                for ask in asked
                if ask.entry.step_id == chat.id or ask.entry.session_id in chat.decisions
            ]
            key, of = f"{task_key(self._names.project, task.id)}/{chat.id}", (task, chat, asks)
            known = self._made.get(key)
            if known is None or known[0] != of:
                known = self._made[key] = (of, chat_row(self._names, task, chat, asks))
            yield known[1]

    def _row(
        self, task: TaskFacts, asks: list[Ask], parent: str, flows: list[WorkflowFacts]
    ) -> Row:
        """Return the row of a task: the one that was made before, if it was made of the same."""
        key, of = task_key(self._names.project, task.id), (self._names, task, asks, parent, flows)
        known = self._made.get(key)
        if known is None or known[0] != of:
            row = task_row(self._names, task, asks, parent=parent, working=flows)
            known = self._made[key] = (of, row)
        return known[1]

    def flow_rows(self) -> list[Row]:
        """Return the rows of the runs of workflows, and of their agents."""
        rows: list[Row] = []
        for flow in self._flows:
            asks = self._by_row.get(workflow_key(self._names.project, flow.id), [])
            questions = [
                ask
                for ask in self._by_row.get(task_key(self._names.project, flow.task), ())
                if ask.kind is AskKind.QUESTION and ask.entry.title in flow.waits
            ]
            parent = task_key(self._names.project, flow.task)
            rows += workflow_rows(
                self._names,
                flow,
                longest_waiting([*asks, *questions]),
                parent=parent if parent in self._made else "",
            )
        return rows

    def _asks_of_task(self, task: TaskFacts) -> list[Ask]:
        """Return the asks of a task, and those of runs of workflows in it that stopped."""
        found = self._by_row.get(self._key_of(task.id), [])
        stopped = self._stopped.get(task.id)
        return longest_waiting([*found, *stopped]) if stopped else found

    def _asking(self, task: TaskFacts) -> Iterable[InboxEntry]:
        """Return what a task asks. The runs of an agent of a workflow are the workflow's to
        settle: of these only what the agent waits for counts."""
        if task.id in self._of_forks:
            return [entry for entry in task.asks if entry.kind == Waits.AGENT]
        return task.asks

    def _key_of(self, task_id: TaskId) -> str:
        """Return the key of the row of a task; of a fork of a workflow, that of the run."""
        return self._of_forks.get(task_id) or task_key(self._names.project, task_id)

    def _named(self, question: Question) -> Ask:
        """Return the ask of a decision, with the name of its task."""
        entry, task_id = question.entry, TaskId(question.entry.task_id)
        task = self._facts.tasks.get(task_id)
        row = self._key_of(task_id) if task is not None or task_id in self._of_forks else ""
        if task is not None:
            entry = entry._replace(task_name=task.name)
        return ask_of(entry, row, question.kind)

    def _is_shown(self, flow: WorkflowFacts) -> bool:
        """Tell whether a run of a workflow has a row: it goes on, waits, or ended within a day."""
        return flow.is_live or flow.stopped is not None or self._is_within(flow.ended + DAY_S)

    def _is_new(self, task: TaskFacts) -> bool:
        """Tell whether a task was closed within the last day."""
        closed = moment_of(task.work.closed_at or str(task.row["updated_at"]))
        return self._is_within(closed + DAY_S)

    def _is_within(self, until: float) -> bool:
        """Tell whether a moment is still to come; then what was made does not hold beyond it."""
        if until <= self._now:
            return False
        self.holds_until = min(self.holds_until or until, until)
        return True
