"""Perform an act on a task. Every kind of act goes through the same phases in the same order.

    select -> [hold: recover -> settle -> plan -> begin] -> act -> [hold: settle -> end]

An act supplies a plan and carries it out; this module takes the lock and writes the intent and the
ledger line. A failure before `begin` has changed nothing. After `begin` the intent is on disk, and
the next command in the task can finish the act or take it back (`unfinished/by_kind.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import ClassVar, Generic, TypeVar

from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.pause import BesideRuns, Pause
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.step import Step
from siding.record.place.locks import Hold, holding_task
from siding.record.place.project import Project
from siding.record.place.redaction import Redaction
from siding.record.recording.opening import open_anywhere, open_recorder
from siding.record.recording.recorder import Recorder
from siding.record.tasks.task import Task
from siding.record.workspaces.recovery import recover_if_cut_off

Plan = TypeVar("Plan")  # what the act will do, worked out before anything changes
Outcome = TypeVar("Outcome")  # what carrying the act out produced
Result = TypeVar("Result")  # what the caller of `perform` gets


class Work(NamedTuple):
    """A task that is locked, whose ledger is up to date, and which is about to be changed.

    `settled` are the steps that were recorded to get it up to date. `since_ns` is a time before
    that, in nanoseconds since 1970: changes after it may not be recorded. Context managers that are
    entered into `resources` are closed when the act is over. `pause` lets the runs go on that were
    paused for the act.
    """

    project: Project
    task: Task
    recorder: Recorder
    settled: tuple[Step, ...]
    since_ns: int
    resources: ExitStack
    pause: Pause = Pause()


class Ended(NamedTuple, Generic[Outcome]):
    """How an act ended.

    `later` completes the draft after the workspace was captured; it can wait for work that runs
    during the capture.
    """

    intent: Intent
    draft: Draft
    outcome: Outcome
    later: Callable[[Draft], Draft] | None = None


class Act(ABC, Generic[Plan, Outcome, Result]):
    """One act on a task. The methods are called in the order in which they are defined here."""

    what: str  # shown to a person whose command finds the task busy
    wait: bool | None = None  # as in `holding_task`
    token: str = ""  # put into the environment of every process that the act starts
    redaction: Redaction | None = None  # None: that of the project

    # Whether the task must have a workspace. If not, its newest snapshot counts as its state.
    needs_workspace: ClassVar[bool] = True
    # Whether the task stays locked while the act is carried out. If not, others may work in it.
    keeps_hold: ClassVar[bool] = True
    # Whether the act may begin while runs of the task live. If not, it is refused, or waits.
    beside_runs: bool = False
    # How it is done while runs live: they are paused from before the last look at the workspace
    # until the state after the act is in a snapshot. None: it does not pause them.
    pauses_runs: BesideRuns | None = None
    # Exceptions of `carry_out` after which nothing was changed, so that no step is recorded.
    unchanged: ClassVar[tuple[type[BaseException], ...]] = ()
    # Whether this command recovers a failed act itself. If not, the next command in the task does.
    recovers_at_once: ClassVar[bool] = False

    def settle(self, recorder: Recorder) -> list[Step]:
        """Record acts that were cut off and changes since the last step; return these steps."""
        return recorder.settle()

    @abstractmethod
    def plan(self, work: Work) -> Plan:
        """Work out what the act will do, without changing anything; raise an error to refuse it."""

    @abstractmethod
    def draft(self, work: Work, plan: Plan) -> Draft | None:
        """Return the draft of the step before the act begins; None if there is nothing to do."""

    @abstractmethod
    def carry_out(self, work: Work, plan: Plan, intent: Intent) -> Ended[Outcome]:
        """Carry out the plan and return how that ended."""

    @abstractmethod
    def result(self, work: Work, plan: Plan, done: "Done[Outcome] | None") -> Result:
        """Return the result of `perform`. `done` is None if there was nothing to do."""


class Done(NamedTuple, Generic[Outcome]):
    """An act that was carried out: its step in the ledger, and its outcome."""

    step: Step
    outcome: Outcome


def perform(project: Project, task_id: TaskId, act: Act[Plan, Outcome, Result]) -> Result:
    """Lock the task, perform the act, record it as one step, and return the act's result.

    Raises TaskBusy, NoWorkspace, and the errors with which the act refuses.
    """
    with (
        holding_task(
            project,
            task_id,
            act.what,
            wait=act.wait,
            beside_runs=act.beside_runs,
            pauses_runs=act.pauses_runs is not None,
        ) as hold,
        working(
            project,
            task_id,
            hold,
            settle=act.settle,
            needs_workspace=act.needs_workspace,
            redaction=act.redaction,
            pauses_runs=act.pauses_runs,
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
    pauses_runs: BesideRuns | None = None,
) -> Iterator[Work]:
    """Recover acts that were cut off, record changes since the last step, and yield the task."""
    project.require_repository()
    recover_if_cut_off(project, task_id)
    task = project.tasks.load(task_id)
    opened = open_recorder if needs_workspace else open_anywhere
    recorder = opened(project, task, hold, redaction=redaction)
    with ExitStack() as resources:
        settled: list[Step] = []
        pause = Pause()
        if pauses_runs is not None and _has_something_beside(recorder, pauses_runs):
            from siding.record.acts.pausing import settle_beside

            settled, pause = settle_beside(resources, recorder, settle, pauses_runs)
        since_ns = int(project.app.clock.now().timestamp() * 1e9)
        settled += settle(recorder)
        yield Work(project, task, recorder, tuple(settled), since_ns, resources, pause)


def _has_something_beside(recorder: Recorder, how: BesideRuns) -> bool:
    """Tell whether something works in the workspace that has to be paused, or asks for a state.

    What ended runs left running is paused like a run; it does not keep an act from taking the
    workspace as it is.
    """
    if recorder.runs.live():
        return True
    if how.takes_last or not recorder.runs.has_left():
        return False
    from siding.record.unfinished.left_running import to_pause

    return bool(to_pause(recorder.project, recorder.task.id))


def complete(work: Work, hold: Hold, act: Act[Plan, Outcome, Result]) -> Result:
    """Plan, begin, carry out and end an act on a task that is locked and settled.

    Call it directly if the kind of act is only known once the task is settled.
    """
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
    if act.keeps_hold:
        told = ended.intent
    else:  # while the lock was released, others recorded steps, or were cut off
        recorder.settle_others(ended.intent)
        told = recorder.follows(ended.intent)

    def later(draft: Draft) -> Draft:
        work.pause.go_on()
        return draft if ended.later is None else ended.later(draft)

    return Done(recorder.finish(told, ended.draft, later=later), ended.outcome)
