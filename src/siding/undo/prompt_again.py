"""Plan to give an agent a prompt once more: how, and in which state.

An agent that lives is sent the prompt. One whose run has ended is started again, and goes on with
its conversation as it was before the prompt; how it goes on without what was taken back is its
adapter's business (`running/past.py`).
"""

from collections.abc import Sequence

from siding.agents.again import PromptAgain, prompted_again
from siding.agents.hooks import adapter_of
from siding.agents.table import BY_NAME, BY_PROGRAM, talks
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.run_details import RunDetail
from siding.record.ledger.step import Step
from siding.record.ledger.turns import ReportedTurn, reported_turns
from siding.record.place.project import Project
from siding.record.restoring.refusal import Reason, Refusal
from siding.record.runs.reported import first_line
from siding.record.runs.run import LONGEST_PROMPT, Run
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task
from siding.secretmask.face import is_marked


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
