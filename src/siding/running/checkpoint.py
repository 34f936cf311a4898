"""Record the workspace as it is now (`siding checkpoint`)."""

import os
from collections.abc import Callable
from functools import partial

from siding.agents.hooks import Moment
from siding.ground.errors import NotFound
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.skeleton import Act, Done, Ended, Work, perform, working
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.run_details import CheckpointDetail
from siding.record.ledger.step import Step, StepStatus
from siding.record.ledger.store import Ledger
from siding.record.ledger.usage import Usage
from siding.record.place.locks import RECORDS_TURN, holding_task
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.recording.recorder import Recorder, milliseconds_between
from siding.record.runs.file_names import WIRE
from siding.record.runs.reported import Reported, first_line, title_of
from siding.record.runs.run import is_run_id
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task
from siding.record.workspaces.recovery import recover_cut_off

__all__ = [
    "ENDED",
    "CheckpointAct",
    "Step",
    "Task",
    "Turn",
    "TurnWords",
    "checkpoint",
    "record_turn",
    "record_turn_alone",
    "settle_before_turn",
    "words_of_turn",
]

ENDED = "ended"  # the moment of a turn that was under way when the command of its run ended
# How a turn ended whose agent has not said that it has stopped.
_STATUS = {
    Moment.PROMPT.value: StepStatus.INTERRUPTED,
    ENDED: StepStatus.INTERRUPTED,
    Moment.FAILED.value: StepStatus.FAILED,
}
TURN = "turn"  # the origin of a checkpoint that is a turn of a run


class TurnWords(NamedTuple):
    """What is said of a turn: its title and, if an agent reported it, the prompt it answers and the
    conversation that it belongs to, with the agent's own ids of both, and of the call of a tool if
    it is the step of one, and what was used in it."""

    message: str = ""
    prompt: str = ""
    session: str = ""
    turn: str = ""
    transcript: str = ""
    call: str = ""
    copy_of: str = ""  # the conversation that this one is a copy of, and what it leaves out
    without: str = ""
    used: Callable[[], Usage] = dict  # is called when the snapshot was taken
    since: str = ""  # ISO 8601: when the prompt came, if the turn was under way since then
    until: Callable[[], str] | None = None  # tells when it ended, "" if nobody knows; None: now
    later: Callable[[], tuple[str, ...]] = tuple  # prompts that were typed while it ran


def words_of_turn(
    found: Reported, used: Callable[[], Usage], moment: str, later: Callable[[], tuple[str, ...]]
) -> TurnWords:
    """Return what is said of the turn that an agent has under way.

    A step of what came of a turn in the background names that: its prompt is in an earlier step.
    """
    # One whose end was not reported may be over for long: the person has paused.
    is_told = moment != Moment.PROMPT.value
    return TurnWords(
        found.woken_by or first_line(found.prompt),
        "" if found.woken_by else found.prompt,
        found.session,
        found.turn,
        found.transcript,
        copy_of=found.copy_of if found.is_in_copy else "",
        without=found.without if found.is_in_copy else "",
        used=used,
        since=found.prompted_at,
        until=None if is_told else partial(_last_time, found.transcript),
        later=later,
    )


def _last_time(transcript: str) -> str:
    from siding.usage.of_run import last_time_in

    return last_time_in(transcript)


class Turn(NamedTuple):
    """A turn of a run in a task. `step` is None if there was nothing to record."""

    task: Task
    step: Step | None


def checkpoint(project: Project, named: str | None, message: str, *, wait: bool) -> Step:
    """Record a checkpoint step and return it. It is recorded for its message even if no file
    changed."""
    task = select(project, named)
    recover_cut_off(project)
    return perform(project, task.id, CheckpointAct(message, wait=wait))


def record_turn(
    project: Project,
    named: str | None,
    run_id: str,
    moment: str,
    words: TurnWords,
    *,
    only_if_changed: bool = True,
    unless_ended: bool = False,
) -> Turn:
    """Record the workspace as a turn of a run that lives; in most cases not if nothing changed.

    With `unless_ended` nothing is recorded if the turn has a step of its own already.

    Raises NotFound if the task has no such run.
    """
    task = select(project, named)
    if not is_run_id(run_id) or not Runs(project.task_layout(task.id)).is_there(run_id):
        raise NotFound(
            f"no run {run_id!r} lives in task {task.name!r}", hint="`siding runs` shows all runs"
        )
    what = f"{RECORDS_TURN} of {run_id}"
    with (
        holding_task(project, task.id, what, beside_runs=True) as hold,
        working(project, task.id, hold, settle=Recorder.settle_interrupted) as work,
    ):
        if not work.recorder.runs.is_there(run_id):
            return Turn(task, None)  # it ended while we waited for the task; its step has it all
        if _is_over(work.recorder.ledger, run_id, words.turn, unless_ended=unless_ended):
            return Turn(task, None)
        detail = _detail(work.recorder, words, moment, f"turn of {run_id} ({moment})")
        detail = detail._replace(
            run=run_id, returns=_began_with(work.recorder.ledger, run_id, words.turn)
        )
        step = work.recorder.record_as(
            detail,
            only_if_changed=only_if_changed,
            later=partial(_with_what_was_used, work.recorder, run_id, words),
        )
        return Turn(task, step)


def record_turn_alone(
    project: Project,
    task: Task,
    agent: str,
    moment: str,
    words: TurnWords,
    *,
    only_if_changed: bool = False,
) -> Turn:
    """Record the workspace as a turn of an agent that was started there without a run."""
    with (
        holding_task(project, task.id, f"{RECORDS_TURN} of {agent}", beside_runs=True) as hold,
        working(project, task.id, hold, settle=Recorder.settle_interrupted) as work,
    ):
        detail = _detail(work.recorder, words, moment, f"turn of {agent} ({moment})")
        began_with = _began_with(work.recorder.ledger, words.session, words.turn)
        step = work.recorder.record_as(
            detail._replace(returns=began_with),
            only_if_changed=only_if_changed,
            agent=agent,
            later=partial(_with_used, words, project.app.now),
        )
        return Turn(task, step)


def settle_before_turn(project: Project, task_id: TaskId, of: str) -> None:
    """Record what changed since the last step: it is not of the turn that begins."""
    what = f"a turn of {of} begins"
    with (
        holding_task(project, task_id, what, beside_runs=True) as hold,
        working(project, task_id, hold),
    ):
        pass


def _detail(recorder: Recorder, words: TurnWords, moment: str, untitled: str) -> CheckpointDetail:
    clean = recorder.redaction.text
    return CheckpointDetail(
        clean(words.message) or untitled,
        TURN,
        moment=moment,
        prompt=clean(words.prompt),
        session=clean(words.session),
        turn=clean(words.turn),
        transcript=clean(words.transcript),
        call=clean(words.call),
        copy_of=clean(words.copy_of),
        without=clean(words.without),
    )


def _with_used(words: TurnWords, now: Callable[[], str], draft: Draft) -> Draft:
    """Return the draft with what was used in the turn, and how long it took."""
    assert isinstance(draft.detail, CheckpointDetail)
    detail = draft.detail._replace(usage=words.used())  # it waits until the transcript is written
    later = words.later()
    if later and detail.prompt.strip():
        detail = detail._replace(later_prompts=later, message=title_of((detail.prompt, *later)))
    until = now() if words.until is None else words.until()
    took_ms = draft.duration_ms
    if words.since and until > words.since:
        took_ms = milliseconds_between(words.since, until)
    status = _STATUS.get(detail.moment, StepStatus.COMPLETED)
    return draft._replace(detail=detail, duration_ms=took_ms, status=status.value)


def _with_what_was_used(recorder: Recorder, run_id: str, words: TurnWords, draft: Draft) -> Draft:
    """Return the draft with what was used in the turn, as its agent says, and on the wire."""
    draft = _with_used(words, recorder.project.app.now, draft)
    if not os.path.exists(recorder.layout.runs_dir / f"{run_id}{WIRE}"):
        return draft
    from siding.record.wire.report import report_of_turn  # few runs have a proxy

    run = recorder.runs.find(run_id)
    since = "" if run is None else run.since
    assert isinstance(draft.detail, CheckpointDetail)
    report = report_of_turn(recorder.layout, run_id, since)
    return draft._replace(detail=draft.detail._replace(wire=report))


def _is_over(ledger: Ledger, run_id: str, turn: str, *, unless_ended: bool) -> bool:
    """Tell whether there is nothing more to record of a run's turn.

    A report that comes while the run ends may find its turn recorded, and the other way round.
    """
    newest = ledger.last()
    made = None if newest is None else newest.as_checkpoint
    if made is None or made.run != run_id:
        return False
    return made.moment == ENDED or (unless_ended and made.turn == turn and bool(made.prompt))


def _began_with(ledger: Ledger, owner: str, turn: str) -> str:
    """Return the snapshot that a turn began with, if the newest steps are of it; else "".

    `owner` is the run, or the conversation of an agent that was started without one.
    """
    found = ""
    for step in ledger.newest_first() if turn else ():
        if (step.turn_of, step.turn) != (owner, turn):
            break
        found = step.parent or ""
    return found


class CheckpointAct(Act[None, None, Step]):
    """Do nothing: the snapshot that ends every act is all that a checkpoint needs."""

    beside_runs = True

    def __init__(self, message: str, *, wait: bool) -> None:
        self.what = f"checkpoint {message}"
        self.wait = wait
        self._message = message

    def settle(self, recorder: Recorder) -> list[Step]:
        """Record only steps that were cut off. Changes since the last step belong to this one."""
        return recorder.settle_interrupted()

    def plan(self, work: Work) -> None:
        return None

    def draft(self, work: Work, plan: None) -> Draft:
        return Draft(CheckpointDetail(self._message, "asked")).completed()

    def carry_out(self, work: Work, plan: None, intent: Intent) -> Ended[None]:
        return Ended(intent, intent.draft, None)

    def result(self, work: Work, plan: None, done: Done[None] | None) -> Step:
        assert done is not None
        return done.step
