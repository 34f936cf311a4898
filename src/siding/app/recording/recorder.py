"""Make steps: snapshot, act, snapshot, write it down. The one way anything enters a ledger.

The order is the promise. Before anything runs, the snapshot and the act's intent are on disk. When
it has ended: how it ended, the new snapshot, the patch, the ledger line; only then the intent goes.
Whatever is cut off in between is finished by `settle`, which every command that works in the task
calls first. Until its line is written an act has an id of its own, and so have its artifacts.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from siding.app.place.locking import Hold
from siding.app.place.project import Project
from siding.app.place.redaction import Redaction
from siding.app.place.snapshot_loss import lost_until
from siding.app.place.step_events import StepInterrupted, StepRecorded
from siding.app.recording.artifacts import highest_artifact, name_artifacts, write_patch
from siding.app.recording.snapshots import TaskSnapshots
from siding.errors import SidingError
from siding.files.durable import make_dirs
from siding.git.snapshots.capture import Capture
from siding.ids import new_act_id, step_id
from siding.ledger.damage import highest_number
from siding.ledger.details.checkpoint import CheckpointDetail
from siding.ledger.draft import Draft
from siding.ledger.figures import DiffFigures, ModeFigures
from siding.ledger.intents import Intent
from siding.ledger.kinds import StepKind
from siding.ledger.line import LedgerLine
from siding.ledger.step import Step
from siding.storage.locks import FileLock, Holder, LockBusy
from siding.tasks.registry import Workspace
from siding.tasks.task import Task

OUTSIDE = "changes made outside Siding"


class BaseUnknown(SidingError):
    """Nobody can say what the task began with, so nobody can say what it changed."""

    code = "base_unknown"

    def __init__(self, task: Task) -> None:
        super().__init__(
            f"what task {task.name!r} began with is not known: its snapshots are lost or damaged",
            hint="`siding doctor` says what is lost and begins the recording anew; nothing in the "
            "workspace was touched",
        )


class Recorder:
    """Makes the steps of one task, whose lock is held for as long as the recorder is used.

    `seen` is the newest snapshot that it took. `redaction` is what keeps secrets out of the steps,
    the project's if none is given.
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
        self.snapshots = TaskSnapshots(project, workspace, hold=hold)
        self.redaction = redaction or project.redaction
        self._seen: Capture | None = None
        self._is_frozen = False

    @property
    def seen(self) -> Capture:
        """The workspace as it was when it was looked at last; `capture` has been called."""
        assert self._seen is not None
        return self._seen

    def capture(self, number: int, kind: str) -> Capture:
        """Return the workspace as it is now, as a snapshot on disk."""
        if self._is_frozen:
            return self.seen
        self.project.app.tell("taking a snapshot of the workspace")
        try:
            step = step_id(number) if number else "base"
            self._seen = self.snapshots.capture(step=step, kind=kind)
        finally:
            self.project.app.tell("")
        return self._seen

    def freeze(self, state: Capture | None = None) -> None:
        """Take the workspace for unchanged from now on: it is as `state`, or as it was seen last.

        For acts that do not touch it, and for tasks that have none any more.
        """
        self._seen = (state or self.seen)._replace(changes=(), heads=())
        self._seen = self._seen._replace(parent=self._seen.snapshot)
        self._is_frozen = True

    def settle(self, message: str = OUTSIDE) -> list[Step]:
        """Bring the ledger up to date with what is there; return the steps that took.

        First the step that was cut off, if there is one, with the output and changes it left; then
        whatever else changed since the last step, so that each step begins where the one before
        it ended.
        """
        made = self.settle_interrupted()
        if self._is_frozen:
            return made
        step = self.checkpoint(message, origin="outside", only_if_changed=True)
        return made if step is None else [*made, step]

    def settle_interrupted(self) -> list[Step]:
        """Record the steps that were cut off, if there are any."""
        intents = [each for each in self.intents.all() if self.intents.take_over(each)]
        if intents:
            self.ledger.close_last_line()
        last = self.ledger.last()
        if last is not None:
            self._join_output(last)
        # First: of the newest line, only the clearing of the intent can have been cut off.
        unrecorded = []
        for intent in intents:
            if last is not None and _is_line_of(last, intent):
                self.intents.clear(intent)
            else:
                unrecorded.append(intent)
        return [self._finish_interrupted(intent) for intent in unrecorded]

    def _join_output(self, step: Step) -> None:
        if step.kind == StepKind.RUN:
            from siding.app.recording.run_outputs import join_output  # 4 ms, for runs only

            join_output(self.layout, step)

    def changes_since_base(self) -> int:
        """Return how many files differ from the base; `settle` has been called.

        Raises BaseUnknown: nobody may take that for no change.
        """
        tip, base = self.snapshots.tip(), self.workspace.base_snapshot
        if tip is None or not base:
            raise BaseUnknown(self.task)
        if tip == base:
            return 0
        return self.snapshots.diff_stat(base, tip).files

    def checkpoint(
        self, message: str, *, origin: str = "asked", only_if_changed: bool = False
    ) -> Step | None:
        """Record the workspace as it stands; return None when nothing changed and that matters."""
        intent = self._intent(Draft(CheckpointDetail(self.redaction.text(message), origin)))
        now = self.capture(intent.number, intent.kind)
        if only_if_changed and now.snapshot == intent.parent:
            return None
        intent = intent._replace(
            parent=intent.parent or now.snapshot, draft=intent.draft.completed()
        )
        self._write_intent(intent)  # cut off from here on, it is finished
        return self._write_down(intent, now)

    def next_number(self) -> int:
        """Return the number of the next step; damaged lines count, so no id is used twice."""
        last = self.ledger.last()
        highest = highest_number(self.ledger.path, last.number if last else 0)
        return highest_artifact(self.layout.artifacts_dir, highest) + 1

    def begin(self, draft: Draft, *, token: str = "") -> Intent:
        """Write down that a step begins, durably; `settle` has been called."""
        intent = self._intent(self._redacted(draft), token=token)
        make_dirs(self.layout.artifacts_dir)
        self._write_intent(intent)
        return intent

    def ended(self, intent: Intent, draft: Draft) -> Intent:
        """Write down how the act ended, before the work of recording it starts."""
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
        """Record the act `intent`, which ended as `draft` says, with what it left in the
        workspace.

        `later` adds to the draft; it is asked after the snapshot, to work beside it.
        """
        after = self.capture(intent.number, intent.kind)
        told = draft if later is None else later(draft)
        return self._write_down(intent._replace(draft=self._redacted(told)), after)

    def follows(self, intent: Intent) -> Intent:
        """Return an act that let the task go, as one that follows the steps made meanwhile."""
        return intent._replace(parent=self._expected(), number=self.next_number())

    def _redacted(self, draft: Draft) -> Draft:
        return Draft.from_record(draft.kind, self.redaction.record(draft.as_record()))

    def abandon(self, intent: Intent) -> None:
        """Forget an act that did nothing at all."""
        self.intents.clear(intent)

    def _expected(self) -> str | None:
        """Return the snapshot the workspace should be at: the last step's, or the base's."""
        last = self.ledger.last()
        lost = lost_until(self.workspace)
        if last is not None and last.snapshot is not None and last.number > lost:
            return last.snapshot
        return self.workspace.base_snapshot or None

    def _finish_interrupted(self, intent: Intent) -> Step:
        """Record a step whose process died, with what it left."""
        from siding.app.unfinished.by_kind import recovered  # hardly ever needed
        from siding.app.unfinished.ground import Ground

        draft = recovered(Ground(self.project, self.layout, self.workspace), intent)
        step = self.finish(intent, draft)
        self._join_output(step)
        self.project.events.emit(StepInterrupted(self.task, step))
        return step

    def _write_down(self, intent: Intent, after: Capture) -> Step:
        before = intent.parent or after.snapshot
        patch = write_patch(self.layout, self.snapshots, intent, before, after.snapshot)
        ended_at = intent.draft.ended_at or self.project.app.now()
        modes = self.snapshots.mode_changes(before, after.snapshot, after.modes)
        line = LedgerLine(
            intent=intent,
            ended_at=ended_at,
            duration_ms=_milliseconds(intent.started_at, ended_at),
            diff=DiffFigures.of(patch.stat),
            modes=ModeFigures.of(modes),
            snapshot=after.snapshot,
            parent=before,
            coverage=after.coverage,
            commits=tuple(after.heads),
            patch_sha256=patch.sha256,
        )
        step = self.ledger.append(
            line.as_record(),
            at_least=intent.number,
            name=partial(name_artifacts, self.layout, intent, patch),
        )
        self.intents.clear(intent)
        self._tidy()
        self.project.events.emit(StepRecorded(self.task, self.workspace, step))
        return step

    def _tidy(self) -> None:
        """Join the packs of the snapshot store when many have gathered; one command at a time."""
        lock = FileLock(self.project.layout.lock("snapshots"))
        try:
            lock.acquire(timeout_s=0)
        except LockBusy:
            return  # somebody else is at it
        try:
            self.project.snapshots.tidy()
        except SidingError:
            return  # nothing is lost by many packs; the next step tries again
        finally:
            lock.release()


def _is_line_of(step: Step, intent: Intent) -> bool:
    """Tell whether a step is the one that an intent announces."""
    if intent.act:
        return step.act == intent.act
    return step.number >= intent.number  # announced by a version whose acts had no id


def _milliseconds(start: str, end: str) -> int:
    """Return the time between two moments, 0 when the clock was set back in between."""
    from datetime import datetime

    try:
        passed = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    except ValueError:
        return 0
    return max(0, int(passed.total_seconds() * 1e3))
