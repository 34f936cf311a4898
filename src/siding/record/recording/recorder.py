"""Record steps. Everything in a ledger is written by the `Recorder`.

The order makes it safe against crashes. Before anything runs, a snapshot and the act's intent are
on disk. After it, these are written in turn: how it ended, the new snapshot, the patch, the ledger
line, the anchor of the ledger. The intent is removed last. `settle` finishes an act that was cut
off in between; every command that works in the task calls it first. Until its line is written, an
act and its artifacts are named by the act's own id, because another process may take the next step
number.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.errors import SidingError, UnreadableFile
from siding.ground.files.durable import make_dirs
from siding.ground.ids import Sha, new_act_id, step_id
from siding.ground.storage.locks import Holder
from siding.record.ledger.draft import Draft
from siding.record.ledger.figures import DiffFigures, ModeFigure
from siding.record.ledger.intents import Intent
from siding.record.ledger.line import LedgerLine
from siding.record.ledger.run_details import CheckpointDetail
from siding.record.ledger.step import Step
from siding.record.ledger.store import highest_number
from siding.record.place.event_log import StepInterrupted, StepRecorded
from siding.record.place.locks import Hold
from siding.record.place.project import Project
from siding.record.place.redaction import Redaction
from siding.record.recording.anchoring import anchor_keeper
from siding.record.recording.artifacts import (
    highest_artifact,
    join_output,
    name_artifacts,
    write_patch,
)
from siding.record.recording.line_base import kept_by, line_base
from siding.record.recording.snapshots import TaskSnapshots, tidy_store
from siding.record.runs.store import Runs
from siding.record.snapshots.capture import Capture
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task

if TYPE_CHECKING:
    from siding.record.ledger.figures import RunTurns
    from siding.record.ledger.reports import Trap
    from siding.record.recording.last_state import LastState
    from siding.record.snapshots.patches import DiffStat

OUTSIDE = "changes made outside Siding"
WHILE_RUNNING = "changes made while runs live"


class BaseUnknown(SidingError):
    """The base snapshot is lost or damaged, so the task's changes cannot be computed."""

    code = "base_unknown"

    def __init__(self, task: Task) -> None:
        super().__init__(
            f"what task {task.name!r} began with is not known: its snapshots are lost or damaged",
            hint="`siding doctor` says what is lost and starts the recording again; the workspace "
            "was not changed",
        )


class AnchorNotWritten(SidingError):
    """A step is recorded, but the anchor of the ledger could not be replaced."""

    code = "anchor_not_written"

    def __init__(self, step: Step, reason: OSError | UnreadableFile) -> None:
        said = reason.strerror if isinstance(reason, OSError) else reason.message
        super().__init__(
            f"step {step.id} is recorded, but the anchor of its ledger could not be written: "
            f"{said or reason}",
            hint="the next command in the task writes it",
        )


class Recorder:
    """Records the steps of one task. The caller holds the task's lock while it uses the recorder.

    `redaction` keeps secrets out of the steps; the default is that of the project.
    """

    def __init__(
        self,
        project: Project,
        task: Task,
        workspace: Workspace,
        hold: Hold,
        *,
        redaction: Redaction | None = None,
    ) -> None:
        self.project = project
        self.task = task
        self.workspace = workspace
        self.root = Path(workspace.path)
        self.layout = project.task_layout(task.id)
        self.ledger = project.ledger(task.id)
        self.intents = hold.intents
        self.runs = Runs(self.layout)
        self.snapshots = TaskSnapshots(project, workspace, hold=hold)
        self.anchor = anchor_keeper(project, task)
        self.redaction = redaction or project.redaction
        self.not_handed_over: tuple[str, ...] = ()  # of a sandboxed run that lives: what, and why
        self.last_state: LastState | None = None  # if the workspace counts as in that state
        self._seen: Capture | None = None
        self._is_frozen = False

    @property
    def seen(self) -> Capture:
        """The result of the last `capture`, which must have been called."""
        assert self._seen is not None
        return self._seen

    @property
    def has_seen(self) -> bool:
        """Whether `capture` was called."""
        return self._seen is not None

    def capture(self, number: int, kind: str, keep: Sequence[Sha] = ()) -> Capture:
        """Take a snapshot of the workspace for step `number` (0: the base), and return it.

        The commits `keep` of the snapshot store live as long as it.
        """
        if self._is_frozen:
            return self.seen
        self.project.app.tell("taking a snapshot of the workspace")
        try:
            self._hand_over()
            step = step_id(number) if number else "base"
            self._seen = self.snapshots.capture(step=step, kind=kind, keep=keep)
        finally:
            self.project.app.tell("")
        return self._seen

    def _hand_over(self) -> None:
        """Let the state that is recorded have what a sandboxed run committed until now."""
        if self.layout.sandbox_lock.exists():
            from siding.record.unfinished.sandbox_commits import hand_over_living

            self.not_handed_over = hand_over_living(self.project, self.layout)

    def freeze(self, state: Capture | None = None) -> None:
        """Stop taking snapshots: from now on the workspace counts as `state`, or as `seen`.

        This is for acts that do not change the workspace, and for tasks without a workspace.
        """
        self._seen = (state or self.seen)._replace(changes=(), heads=())
        self._seen = self._seen._replace(parent=self._seen.snapshot)
        self._is_frozen = True

    def settle(self, message: str = OUTSIDE) -> list[Step]:
        """Bring the ledger up to date with the workspace; return the steps that were recorded.

        First the acts that were cut off are recorded, with their output and changes. Then all other
        changes since the last step are recorded as a checkpoint with this `message`. So each step
        begins with the state in which the step before it ended. While runs live, the changes are
        most likely theirs, and the checkpoint says so.
        """
        made = self.settle_interrupted()
        if self._is_frozen:
            return made
        # After an act that gave the task another base was cut off, a line has to say which it is.
        wanted = not self.anchor.is_changing()
        origin = "outside"
        if message == OUTSIDE and self.runs.live():
            message, origin = WHILE_RUNNING, "running"
        step = self.checkpoint(message, origin=origin, only_if_changed=wanted)
        return made if step is None else [*made, step]

    def settle_interrupted(self) -> list[Step]:
        """Record the acts that were cut off; return their steps."""
        return self._settle_interrupted()

    def _settle_interrupted(self, *, besides: str = "") -> list[Step]:
        others = [each for each in self.intents.all() if not besides or each.act != besides]
        intents = [each for each in others if self.intents.take_over(each)]
        if intents:
            self.ledger.close_last_line()
        last = self.ledger.last()
        if last is not None:
            join_output(self.layout, last)
        # If the newest line belongs to an intent, the step is complete and only the removal of the
        # intent was cut off, or the anchor was not written. This is checked before new lines are
        # appended.
        unrecorded = []
        for intent in intents:
            if last is not None and _is_line_of(last, intent):
                self.anchor.catch_up()
                self.intents.clear(intent)
            else:
                unrecorded.append(intent)
        made = [self._finish_interrupted(intent) for intent in unrecorded]
        self._forget_runs()
        self._forget_what_ended()
        return made

    def settle_others(self, own: Intent) -> None:
        """Record the acts of others that were cut off while `own` had let the task go.

        An act that cannot be recorded now is left to the next command.
        """
        with suppress(SidingError, OSError):
            self._settle_interrupted(besides=own.act)

    def _forget_runs(self) -> None:
        """Remove the runs that were cut off: the steps that they make are recorded by now."""
        cut_off = self.runs.cut_off()
        if not cut_off:
            return
        from siding.record.runs.live_run import RunRecords
        from siding.record.unfinished.runs import end_what_is_left

        for run in cut_off:
            if RunRecords(self.layout).forget(run):
                end_what_is_left(run)

    def _forget_what_ended(self) -> None:
        """Remove what names processes that runs left running, if none of them lives any more."""
        if self.runs.has_left():
            from siding.record.unfinished.left_running import forget_what_ended

            forget_what_ended(self.layout)

    def changes_since_base(self) -> int:
        """Return how many files differ from the base of the line; call `settle` first.

        Raises BaseUnknown if there is no base to compare with; that must not count as no change.
        """
        base = line_base(self.project, self.workspace).snapshot
        if not base:
            raise BaseUnknown(self.task)
        return self.changes_since(base)

    def changes_since(self, snapshot: str) -> int:
        """Return how many files differ from a snapshot; call `settle` first. Raises BaseUnknown
        without a present one."""
        tip = self.snapshots.tip()
        if tip is None:
            raise BaseUnknown(self.task)
        return 0 if tip == snapshot else self.snapshots.diff_stat(snapshot, tip).files

    def checkpoint(
        self, message: str, *, origin: str = "asked", only_if_changed: bool = False
    ) -> Step | None:
        """Record the workspace as a checkpoint step with a message; see `record_as`."""
        detail = CheckpointDetail(self.redaction.text(message), origin)
        return self.record_as(detail, only_if_changed=only_if_changed)

    def record_as(
        self,
        detail: CheckpointDetail,
        *,
        only_if_changed: bool,
        agent: str | None = None,
        later: Callable[[Draft], Draft] | None = None,
    ) -> Step | None:
        """Record the workspace as a checkpoint step with this detail, and return the step.

        With `only_if_changed`, return None and record nothing if the workspace has not changed.
        `later` completes the draft after the snapshot was taken.
        """
        intent = self._intent(Draft(detail, agent=agent))
        now = self.capture(intent.number, intent.kind)
        if only_if_changed and now.snapshot == intent.parent:
            return None
        told = intent.draft if later is None else later(intent.draft)
        told = told if told.status else told.completed()
        intent = intent._replace(parent=intent.parent or now.snapshot, draft=told)
        self._write_intent(intent)  # from here on, the next command finishes it after a crash
        return self._write_down(intent, now)

    def next_number(self) -> int:
        """Return the number of the next step.

        The numbers of damaged lines and of artifacts count as used, so no number is used twice.
        """
        last = self.ledger.last()
        highest = highest_number(self.ledger.path, last.number if last else 0)
        return highest_artifact(self.layout.artifacts_dir, highest) + 1

    def begin(self, draft: Draft, *, token: str = "") -> Intent:
        """Write the intent of a new act durably, and return it; call `settle` first."""
        intent = self._intent(self._redacted(draft), token=token)
        make_dirs(self.layout.artifacts_dir)
        self._write_intent(intent)
        return intent

    def ended(self, intent: Intent, draft: Draft) -> Intent:
        """Write durably how an act ended, before the snapshot is taken; return the new intent."""
        at = self.project.app.now()
        told = intent._replace(draft=self._redacted(draft._replace(ended_at=at)))
        self._write_intent(told)
        return told

    def _intent(self, draft: Draft, *, token: str = "") -> Intent:
        app = self.project.app
        return Intent(
            act=new_act_id(app.random_bytes),
            number=self.next_number(),
            kind=draft.kind,
            started_at=app.now(),
            pid=app.pid,
            token=token,
            parent=self._expected(),
            draft=draft,
        )

    def _write_intent(self, intent: Intent) -> None:
        holder = Holder(pid=intent.pid, since=intent.started_at, what=intent.kind)
        self.intents.write(intent, holder)

    def finish(
        self,
        intent: Intent,
        draft: Draft,
        *,
        later: Callable[[Draft], Draft] | None = None,
    ) -> Step:
        """Record the act as a step, with the changes that it made in the workspace.

        `draft` says how the act ended. `later` completes the draft; it is called after the snapshot
        was taken, so that it can wait for work that runs at the same time.
        """
        after = self.capture(intent.number, intent.kind, kept_by(intent.draft.detail))
        told = draft if later is None else later(draft)
        return self._write_down(intent._replace(draft=self._redacted(told)), after)

    def follows(self, intent: Intent) -> Intent:
        """Return the intent with a new number and parent.

        Use it for an act that released the task's lock: other steps may have been recorded since.
        """
        return intent._replace(parent=self._expected(), number=self.next_number())

    def _redacted(self, draft: Draft) -> Draft:
        return Draft.from_record(draft.kind, self.redaction.record(draft.as_record()))

    def _without_secrets(self, figures: DiffFigures) -> DiffFigures:
        return figures._replace(file_list=self.redaction.names(figures.file_list))

    def _masked_modes(self, first: tuple[ModeFigure, ...]) -> tuple[ModeFigure, ...]:
        names = self.redaction.names(each.path for each in first)
        return tuple(each._replace(path=name) for each, name in zip(first, names, strict=True))

    def abandon(self, intent: Intent) -> None:
        """Remove the intent of an act that changed nothing."""
        self.intents.clear(intent)

    def _expected(self) -> str | None:
        """Return the snapshot after the last step, or the base snapshot; None if both are missing.

        The workspace should be in this state, unless something changed it outside Siding.
        """
        last = self.ledger.last()
        lost = self.workspace.lost_until
        if last is not None and last.snapshot is not None and last.number > lost:
            return last.snapshot
        return self.workspace.base_snapshot or None

    def _finish_interrupted(self, intent: Intent) -> Step:
        """Record an act whose process died, with the output and changes that it left."""
        from siding.record.unfinished.by_kind import recovered

        draft = recovered(self.project, self.layout, self.workspace, intent)
        newest = self.ledger.last()
        if intent.act and newest is not None and newest.number >= intent.number:
            intent = self.follows(intent)  # steps were recorded while it ran
        step = self.finish(intent, draft)
        join_output(self.layout, step)
        self.project.events.emit(StepInterrupted(self.task, step))
        return step

    def _write_down(self, intent: Intent, after: Capture) -> Step:
        before = intent.parent or after.snapshot
        patch = write_patch(self.layout, self.snapshots, intent, before, after.snapshot)
        ended_at = intent.draft.ended_at or self.project.app.now()
        modes = self.snapshots.mode_figures(before, after.snapshot, after.modes)
        line = LedgerLine(
            intent=intent,
            ended_at=ended_at,
            duration_ms=milliseconds_between(intent.started_at, ended_at),
            diff=self._without_secrets(DiffFigures.of(patch.stat)),
            modes=modes._replace(first=self._masked_modes(modes.first)),
            snapshot=after.snapshot,
            parent=before,
            coverage=after.coverage,
            commits=tuple(after.heads),
            beside=self._beside(intent),
            patch_sha256=patch.sha256,
            traps=(*self._traps(intent, patch.stat), *self._left(intent, after)),
            turns=self._turns(intent),
        )
        step = self.ledger.append(
            line.as_record(),
            at_least=intent.number,
            name=partial(name_artifacts, self.layout, intent, patch),
            more=self.anchor.fields,
        )
        try:
            self.anchor.put()
        except (OSError, UnreadableFile) as error:
            raise AnchorNotWritten(step, error) from error
        self.intents.clear(intent)
        tidy_store(self.project)
        self.project.events.emit(StepRecorded(self.task, self.workspace, step))
        return step

    def _turns(self, intent: Intent) -> "RunTurns | None":
        ran = intent.draft.as_run
        if ran is None or not ran.run or not ran.since:
            return None
        from siding.record.ledger.turns import turns_of_run

        return turns_of_run(self.ledger, ran.run, ran.since)

    def _traps(self, intent: Intent, stat: "DiffStat | None") -> "tuple[Trap, ...]":
        # An apply leaves nothing in the workspace.
        if stat is None or intent.draft.as_apply is not None:
            return ()
        from siding.record.traps.traps import traps_of_step  # 5 ms, where something changed

        return self._masked_traps(traps_of_step(self.project, stat))

    def _left(self, intent: Intent, after: Capture) -> "tuple[Trap, ...]":
        """Return what sandboxed runs left where no snapshot looks, and note it."""
        if self._is_frozen or not self.layout.traps_json.exists():
            return ()
        from siding.record.traps.left import Unrecorded, settle

        look = Unrecorded(after.ignored, after.coverage.nested)
        found = settle(self.project, self.workspace, self._beside(intent), look)
        return self._masked_traps(found)

    def _masked_traps(self, found: "tuple[Trap, ...]") -> "tuple[Trap, ...]":
        names = self.redaction.names(each.path for each in found)
        return tuple(each._replace(path=name) for each, name in zip(found, names, strict=True))

    def _beside(self, intent: Intent) -> tuple[str, ...]:
        """Return the ids of the runs that live, without that of the act itself."""
        return tuple(run.id for run in self.runs.live() if run.id != intent.run)


def _is_line_of(step: Step, intent: Intent) -> bool:
    """Tell whether a step records the act of an intent."""
    if intent.act:
        return step.act == intent.act
    return step.number >= intent.number  # an intent of an old version, which had no act id


def milliseconds_between(start: str, end: str) -> int:
    """Return the milliseconds between two ISO 8601 times; 0 if the clock was set back."""
    try:
        passed = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    except ValueError:
        return 0
    return max(0, int(passed.total_seconds() * 1e3))
