"""How anything is done to a task: one order for every kind of act.

    select -> [hold: recover -> settle -> plan -> begin] -> act -> [hold: settle -> end]

An act brings a plan and says how it is carried out; the order, the lock, the intent and the ledger
line are made here. Whatever goes wrong before `begin` has changed nothing. After it, the intent is
on disk, and whoever comes next can finish the act or take it back (`unfinished/by_kind.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import ClassVar, Generic, NamedTuple, TypeVar

from siding.app.life.recovery import recover_if_cut_off
from siding.app.place.locking import Hold, holding_task
from siding.app.place.project import Project
from siding.app.place.redaction import Redaction
from siding.app.recording.opening import open_anywhere, open_recorder
from siding.app.recording.recorder import Recorder
from siding.ids import TaskId
from siding.ledger.draft import Draft
from siding.ledger.intents import Intent
from siding.ledger.step import Step
from siding.tasks.task import Task

Plan = TypeVar("Plan")  # what is to be done, worked out before anything changes
Outcome = TypeVar("Outcome")  # what was found while it was done
Result = TypeVar("Result")  # what the caller gets


class Work(NamedTuple):
    """A task that is held, settled, and about to be changed.

    `settled` are the steps that were recorded first. `since_ns` is a moment before that, in
    nanoseconds of the system's clock: what changes later was not seen. What is entered into
    `resources` is closed when the act is over.
    """

    project: Project
    task: Task
    recorder: Recorder
    settled: tuple[Step, ...]
    since_ns: int
    resources: ExitStack


class Ended(NamedTuple, Generic[Outcome]):
    """How an act ended. `later` adds to the draft, beside the work of recording it."""

    intent: Intent
    draft: Draft
    outcome: Outcome
    later: Callable[[Draft], Draft] | None = None


class Act(ABC, Generic[Plan, Outcome, Result]):
    """One thing that is done to a task. Its methods are called in the order they stand here."""

    what: str  # for whoever finds the task busy
    wait: bool | None = None  # as in `holding_task`
    token: str = ""  # in the environment of everything it starts
    redaction: Redaction | None = None  # the project's if None

    # Whether the task must have a workspace; else its newest snapshot is the state it is in.
    needs_workspace: ClassVar[bool] = True
    # Whether the task stays held while the act is carried out; else others may work in it.
    keeps_hold: ClassVar[bool] = True
    # If one of these is raised while the act is carried out, nothing was changed.
    unchanged: ClassVar[tuple[type[BaseException], ...]] = ()
    # Whether a failure is recovered at once, in place of by the next command in the task.
    recovers_at_once: ClassVar[bool] = False

    def settle(self, recorder: Recorder) -> list[Step]:
        """Record what was cut off, and what changed since the last step."""
        return recorder.settle()

    @abstractmethod
    def plan(self, work: Work) -> Plan:
        """Work out what is to be done. Raise to refuse it: nothing has changed."""

    @abstractmethod
    def draft(self, work: Work, plan: Plan) -> Draft | None:
        """Return what the step says before it begins; None if there is nothing to do."""

    @abstractmethod
    def carry_out(self, work: Work, plan: Plan, intent: Intent) -> Ended[Outcome]:
        """Do it."""

    @abstractmethod
    def result(self, work: Work, plan: Plan, done: "Done[Outcome] | None") -> Result:
        """Return what the caller gets. `done` is None if there was nothing to do."""


class Done(NamedTuple, Generic[Outcome]):
    """An act that was carried out, and its step."""

    step: Step
    outcome: Outcome


def perform(project: Project, task_id: TaskId, act: Act[Plan, Outcome, Result]) -> Result:
    """Do it to the task, and record it as one step.

    Raises TaskBusy, NoWorkspace, and what the act refuses.
    """
    with (
        holding_task(project, task_id, act.what, wait=act.wait) as hold,
        working(
            project,
            task_id,
            hold,
            settle=act.settle,
            needs_workspace=act.needs_workspace,
            redaction=act.redaction,
        ) as work,
    ):
        return complete(work, hold, act)


@contextmanager
def working(
    project: Project,
    task_id: TaskId,
    hold: Hold,
    *,
    settle: Callable[[Recorder], list[Step]] = Recorder.settle,
    needs_workspace: bool = True,
    redaction: Redaction | None = None,
) -> Iterator[Work]:
    """Finish what was cut off, record what changed, and yield the task as something to work on."""
    recover_if_cut_off(project, task_id)
    task = project.tasks.load(task_id)
    opened = open_recorder if needs_workspace else open_anywhere
    recorder = opened(project, task, hold, redaction=redaction)
    since_ns = int(project.app.clock.now().timestamp() * 1e9)
    settled = tuple(settle(recorder))
    with ExitStack() as resources:
        yield Work(project, task, recorder, settled, since_ns, resources)


def complete(work: Work, hold: Hold, act: Act[Plan, Outcome, Result]) -> Result:
    """Plan, begin, carry out and end an act: also one that was chosen when the task was settled."""
    plan = act.plan(work)
    draft = act.draft(work, plan)
    if draft is None:
        return act.result(work, plan, None)
    return act.result(work, plan, _carried_out(work, hold, act, plan, draft))


def _carried_out(
    work: Work, hold: Hold, act: Act[Plan, Outcome, Result], plan: Plan, draft: Draft
) -> Done[Outcome]:
    recorder = work.recorder
    intent = recorder.begin(draft, token=act.token)
    try:
        with nullcontext() if act.keeps_hold else hold.let_go():
            ended = act.carry_out(work, plan, intent)
    except act.unchanged:
        recorder.abandon(intent)
        raise
    except BaseException:
        if act.recovers_at_once:
            recorder.settle_interrupted()
        raise
    told = ended.intent if act.keeps_hold else recorder.follows(ended.intent)
    return Done(recorder.finish(told, ended.draft, later=ended.later), ended.outcome)
