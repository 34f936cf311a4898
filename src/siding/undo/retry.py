"""Do a step again: go back to before it, and run its command, or another one, from there.

It is recorded as a rollback and a run, which count as one act: one undo leads to the state before
both. What stood on the step is left behind, as after any rollback.

Of a turn it is the prompt that its agent is given once more (`plan_prompt`). An agent that lives is
sent the prompt. One whose run has ended is started again, and goes on with its conversation as it
was before the prompt; how it goes on without what was taken back is its adapter's business
(`running/agent_reports.py`).
"""

import time
from collections.abc import Callable, Sequence
from typing import assert_never

from siding.agents.headless.port import PromptAgain, prompted_again
from siding.agents.hooks import adapter_of
from siding.agents.table import BY_NAME, BY_PROGRAM, talks
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.layout import TaskLayout
from siding.guard.ruling import Asker
from siding.record.acts.pause import BesideRuns
from siding.record.acts.skeleton import Done, Work, perform
from siding.record.ledger.draft import Draft
from siding.record.ledger.history import position
from siding.record.ledger.present_line import PresentLine, present_line
from siding.record.ledger.reports import SandboxReport
from siding.record.ledger.run_details import BASE, RunDetail
from siding.record.ledger.step import (
    ApplyRedoStep,
    ApplyStep,
    ApplyUndoStep,
    CheckpointStep,
    ForeignStep,
    MergeStep,
    PhaseStep,
    RedoStep,
    RollbackStep,
    RunStep,
    Step,
    TurnStep,
    UndoStep,
)
from siding.record.ledger.turns import ReportedTurn, reported_turns
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import require_workspace
from siding.record.recording.steps import step as find_step
from siding.record.restoring.act import (
    Going,
    MovedFiles,
    RestoreAct,
    Restored,
    RestorePlan,
    rollback_to,
)
from siding.record.restoring.refusal import Reason, Refusal
from siding.record.restoring.survey import Destination, RestoreRequest
from siding.record.runs.reported import first_line, prompts_of
from siding.record.runs.run import LONGEST_PROMPT, Run
from siding.record.runs.store import Runs
from siding.record.snapshots.coverage import Coverage
from siding.record.tasks.task import Task
from siding.running.attach import NotTaken, require_terminal, send
from siding.running.held import AskSeen
from siding.running.request import Retried, RunRequest, RunResult, Terminal
from siding.running.run import OnRunning, run
from siding.sandbox.request import SandboxRequest
from siding.secretmask.face import is_marked

__all__ = ["PlannedRetry", "RetryRequest", "plan_retry", "retry", "send_again"]
_REPORTS_WITHIN_S = 4.0


class RetryRequest(NamedTuple):
    """The options of one ``siding retry``.

    `step` None is the newest run or prompt on the line; without `argv` the step's own command runs
    again, or its prompt is given again. `at_terminal`: the agent may talk with a person.
    `ends_runs`: what lives will be ended first.
    """

    step: str | None = None
    argv: tuple[str, ...] = ()
    task: str | None = None
    force: bool = False
    wait: bool = False
    beside: BesideRuns = BesideRuns()
    at_terminal: bool = False
    ends_runs: bool = False


class Before(NamedTuple):
    """The state that a step is done again from: that after a step, 0 for the base."""

    number: int
    snapshot: str
    coverage: Coverage | None


class PlannedRetry(NamedTuple):
    """What will be done: the step, the steps on the line that are left behind, the command.

    `sends_to` is the run that lives and is sent the prompt; then there is no command.
    """

    task: Task
    step: Step
    before: Before
    leaves: tuple[Step, ...]
    run: RunRequest
    beside: BesideRuns = BesideRuns()
    prompt: str = ""
    sends_to: str = ""


def plan_retry(project: Project, request: RetryRequest) -> PlannedRetry:
    """Return what a retry would do. Raises NotFound and Refusal."""
    task = select(project, request.task)
    steps = list(project.ledger(task.id).steps())
    line = present_line(steps)
    if request.step is None:
        found = _newest(steps, line, task)
    else:
        _task, found = find_step(project, task.id, request.step)
    turn = turn_of_prompt(steps, found)
    if turn is not None:
        found = turn.step
    before = _before(project, task, steps, found, None if turn is None else turn.on)
    leaves = [s for s in steps if s.number in line.line and s.number > before.number]
    planned = PlannedRetry(task, found, before, tuple(leaves), RunRequest(()), request.beside)
    if turn is None or request.argv:
        return planned._replace(run=_run_of(found, task, request))
    prompt = plan_prompt(
        project,
        task,
        steps,
        turn,
        at_terminal=request.at_terminal,
        ends_runs=request.ends_runs,
    )
    planned = planned._replace(prompt=prompt.title)
    if prompt.sends_to is not None:
        return planned._replace(sends_to=prompt.sends_to.id)
    return planned._replace(run=_request(prompt.run, prompt.argv, task, request))


def retry(
    project: Project,
    planned: PlannedRetry,
    terminal: Terminal,
    *,
    force: bool = False,
    ask: Asker | None = None,
    ask_seen: AskSeen | None = None,
    on_back: Callable[[Restored], None] | None = None,
    on_running: OnRunning | None = None,
) -> RunResult:
    """Go back and run. Raises the errors of a rollback; then nothing was changed.

    `on_back` is called when the workspace is back, unless it was there already; `on_running` when
    the command runs.
    """
    act = BackToBefore(planned, force=force, wait=planned.run.wait)
    restored = perform(project, planned.task.id, act)
    before = None
    if restored is not None:
        before = restored.step.parent
        if on_back is not None:
            on_back(restored)
    again = planned.run._replace(retries=Retried(planned.step.id, before))
    return run(project, again, terminal, on_running=on_running, ask=ask, ask_seen=ask_seen)


def send_again(
    project: Project,
    planned: PlannedRetry,
    *,
    force: bool = False,
    on_back: Callable[[Restored], None] | None = None,
) -> bool:
    """Go back, and type the prompt into the terminal of the agent that lives.

    Return whether the agent has reported the prompt: one that works may take it later. Raises the
    errors of a rollback and of `send`; then nothing was changed.
    """
    task_id, run_id = planned.task.id, planned.sends_to
    try:
        require_terminal(project, task_id, run_id)
    except NotTaken as error:
        raise Refusal(Reason.AGENT_WITHOUT_TERMINAL, step=planned.step.id, run=run_id) from error
    act = BackToBefore(planned, force=force, wait=False)
    restored = perform(project, task_id, act)
    if restored is not None and on_back is not None:
        on_back(restored)
    detail = planned.step.as_checkpoint
    text = "" if detail is None else detail.prompt
    layout = project.task_layout(task_id)
    before = prompts_of(layout, run_id)
    send(project, task_id, run_id, text=text, enter=True, keys=(), data=None)
    if not _has_more(layout, run_id, before):
        # Gemini CLI may lose the key just after it went on; with nothing typed it does nothing.
        send(project, task_id, run_id, text=None, enter=False, keys=("enter",), data=None)
        return _has_more(layout, run_id, before)
    return True


def _has_more(layout: TaskLayout, run_id: str, before: int) -> bool:
    """Wait a moment until a run has reported another prompt; return whether it has."""
    end = time.monotonic() + _REPORTS_WITHIN_S
    while prompts_of(layout, run_id) <= before:
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class BackToBefore(RestoreAct[Restored | None]):
    """Go to the state before a step. Nothing is recorded if the workspace is in it already."""

    def __init__(self, planned: PlannedRetry, *, force: bool, wait: bool) -> None:
        self.what = f"retry of step {planned.step.id}"
        self.wait = wait
        self.pauses_runs = planned.beside
        self._step = planned.step
        self._before = planned.before
        self._force = force

    def going(self, work: Work) -> Going:
        destination = Destination(
            snapshot=Sha(self._before.snapshot),
            name=f"the state before step {self._step.id}",
            coverage=self._before.coverage,
        )
        detail = rollback_to(self.what, step=self._before.number or None)
        detail = detail._replace(retries=self._step.id)
        return Going(destination, RestoreRequest(force=self._force), detail)

    def draft(self, work: Work, plan: RestorePlan) -> Draft | None:
        return None if plan.survey.nothing_to_do else super().draft(work, plan)

    def result(
        self, work: Work, plan: RestorePlan, done: Done[MovedFiles] | None
    ) -> Restored | None:
        return None if done is None else super().result(work, plan, done)

    def restored(self, work: Work, restored: Restored) -> Restored | None:
        return restored


def _before(
    project: Project, task: Task, steps: list[Step], found: Step, began: int | None
) -> Before:
    """Return the state before a step. Of a run with turns that is the one in which it began.

    `began` is the number of the step whose state it is, if that is known.
    """
    by_number = {step.number: step for step in steps}
    line = present_line(steps)
    on = line.on(found.number)
    if began is None:
        began = _where_it_began(found, line)
    if began == on:
        if found.parent is None:
            raise Refusal(Reason.NOTHING_BEFORE, step=found.id)
        there = by_number.get(on)
        return Before(on, found.parent, None if there is None else there.coverage)
    if began == 0:
        workspace = require_workspace(project, task)
        return Before(0, workspace.base_snapshot, None)
    step = by_number.get(began)
    if step is None or step.snapshot is None:
        raise Refusal(Reason.NO_BEGINNING, step=found.id)
    return Before(began, step.snapshot, step.coverage)


def _where_it_began(found: Step, line: PresentLine) -> int:
    """Return the number of the newest step below `found` that was there when its run began.

    `since` itself may not be below it: an undo, a redo or a rollback only leads to another step,
    and somebody may have gone back while the run lived.
    """
    on = line.on(found.number)
    detail = found.as_run
    if detail is None or not detail.since.replace(BASE, "0").isdecimal():
        return on
    newest = 0 if detail.since == BASE else int(detail.since)
    while on > newest:
        on = line.on(on)
    return on


def _newest(steps: list[Step], line: PresentLine, task: Task) -> Step:
    """Return the newest run or prompt on the line; if there is none, what was undone last."""
    acts = [s for s in steps if s.number in line.line and _can_be_done_again(s)]
    if not acts:
        undone = [act.step for act in position(steps).redoable]
        acts = [s for s in undone if s is not None and _can_be_done_again(s)]
    if not acts:
        raise Refusal(Reason.NO_RUN, task=task.name)
    newest = acts[-1]
    prompts = [s for s in acts if s.turn_of == newest.run and not s.run]
    # The day of a person with their agent is no act that they mean: the last prompt is.
    return prompts[-1] if newest.run and prompts and talks(newest.cmd) else newest


def _can_be_done_again(step: Step) -> bool:
    match step:
        case RunStep():
            return True
        case TurnStep():
            return bool(step.detail.prompt)
        case CheckpointStep() | PhaseStep() | MergeStep() | ForeignStep():
            return False
        case ApplyStep() | ApplyUndoStep() | ApplyRedoStep():
            return False
        case RollbackStep() | UndoStep() | RedoStep():
            return False
        case _:
            assert_never(step)


def _run_of(found: Step, task: Task, request: RetryRequest) -> RunRequest:
    """Return the run to do: the step's own, or one of the command that is given."""
    detail = found.as_run or RunDetail()
    argv = request.argv or detail.cmd
    if not argv:
        kind = found.kind_shown
        raise Refusal(Reason.NO_COMMAND, step=found.id, kind=kind, number=found.number)
    if not request.argv and any(map(is_marked, [*argv, *detail.env.values()])):
        raise Refusal(Reason.SECRET_IN_COMMAND, step=found.id, number=found.number)
    return _request(detail, argv, task, request)


def _request(
    detail: RunDetail, argv: tuple[str, ...], task: Task, request: RetryRequest
) -> RunRequest:
    """Return a run with the directory, variables, time limit and sandbox that another had.

    Variables with a secret that was not recorded are left out.
    """
    return RunRequest(
        argv=argv,
        task=task.id,
        timeout_s=detail.timeout_s,
        env={name: value for name, value in detail.env.items() if not is_marked(value)},
        cwd=detail.cwd or None,
        wait=request.wait,
        sandbox=_sandbox_of(detail.sandbox),
    )


def _sandbox_of(report: SandboxReport | None) -> SandboxRequest:
    """Return the request for the sandbox that a run had."""
    if report is None or report.engine is None:
        return SandboxRequest()
    return SandboxRequest(
        sandbox=True, profile=report.profile, network=report.network, hosts=report.hosts
    )


class PlannedPrompt(NamedTuple):
    """A prompt that is given again: to the run `sends_to`, or by the command line `argv`.

    `on` is the number of the step whose state it began with, `run` the detail of its run.
    """

    prompt: str
    on: int
    sends_to: Run | None = None
    argv: tuple[str, ...] = ()
    run: RunDetail = RunDetail()

    @property
    def title(self) -> str:
        return first_line(self.prompt)


def turn_of_prompt(steps: Sequence[Step], step: Step) -> ReportedTurn | None:
    """Return the turn that a step is, or is a part of; None if no agent reported its prompt."""
    if not step.turn_of:
        return None
    for each in reported_turns(steps):
        is_part = step.turn and (each.step.turn_of, each.step.turn) == (step.turn_of, step.turn)
        if each.step.number == step.number or is_part:
            return each
    return None


def plan_prompt(
    project: Project,
    task: Task,
    steps: Sequence[Step],
    turn: ReportedTurn,
    *,
    at_terminal: bool,
    ends_runs: bool,
) -> PlannedPrompt:
    """Return how the prompt of a turn is given again. Raises Refusal.

    `at_terminal`: the agent may talk with a person. `ends_runs`: what lives is ended first.
    """
    detail = turn.detail
    _refuse_incomplete(turn)
    live = next(
        (r for r in Runs(project.task_layout(task.id)).live() if r.id == detail.run and detail.run),
        None,
    )
    if live is not None and not ends_runs:
        return PlannedPrompt(detail.prompt, turn.on, sends_to=live)
    ended = next((step for step in reversed(steps) if step.run and step.run == detail.run), None)
    run = None if ended is None else ended.as_run
    if live is not None:
        run = RunDetail(cmd=live.cmd, cwd=live.cwd, run=live.id)
    if run is None or not run.cmd:
        raise Refusal(Reason.AGENT_STARTED_ELSEWHERE, step=turn.step.id, number=turn.step.number)
    program = run.cmd[0].rpartition("/")[2]
    agent = BY_PROGRAM.get(program) or BY_NAME.get(turn.step.agent)
    argv = () if agent is None else _command(agent.name, run, steps, turn, at_terminal=at_terminal)
    if not argv:
        named = agent.name if agent else program
        raise Refusal(Reason.AGENT_TAKES_NO_PROMPT, agent=named, number=turn.step.number)
    return PlannedPrompt(detail.prompt, turn.on, argv=argv, run=run)


def _command(
    agent: str,
    run: RunDetail,
    steps: Sequence[Step],
    turn: ReportedTurn,
    *,
    at_terminal: bool,
) -> tuple[str, ...]:
    turns = [each for each in reported_turns(steps) if each.detail.session == turn.detail.session]
    earlier = [each for each in turns if each.step.number < turn.step.number]
    of_run = [each.detail.prompt for each in turns if each.detail.run == turn.detail.run]
    goes_on = bool(earlier) or _names_a_conversation(agent, run.cmd)
    return prompted_again(
        agent,
        PromptAgain(
            argv=run.cmd,
            prompt=turn.detail.prompt,
            session=turn.detail.session if goes_on else "",
            alone=not (at_terminal and talks(run.cmd)),
            said=of_run,
        ),
    )


def _names_a_conversation(agent: str, argv: tuple[str, ...]) -> bool:
    adapter = adapter_of(agent)
    return adapter is not None and adapter.continues(argv) is not None


def _refuse_incomplete(turn: ReportedTurn) -> None:
    prompt, step = turn.detail.prompt, turn.step
    if is_marked(prompt):
        raise Refusal(Reason.SECRET_IN_PROMPT, step=step.id, number=step.number)
    if len(prompt) >= LONGEST_PROMPT:
        raise Refusal(Reason.PROMPT_CUT_SHORT, characters=LONGEST_PROMPT, number=step.number)
