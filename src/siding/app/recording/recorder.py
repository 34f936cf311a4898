"""Make steps: snapshot, act, snapshot, write it down. The one way anything enters a ledger.

The order is the promise. Before anything runs, the snapshot and the act's intent are on disk. When
it has ended: how it ended, the new snapshot, the patch, the ledger line; only then the intent goes.
Whatever is cut off in between is finished by `settle`, which every command that works in the task
calls first. Until its line is written an act has an id of its own, and so have its artifacts.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from siding.app.place.events import StepInterrupted, StepRecorded
from siding.app.place.locking import Hold
from siding.app.place.lost_workspaces import REBUILT
from siding.app.place.project import Project
from siding.app.place.snapshot_loss import lost_until
from siding.app.place.task_workspace import require_workspace
from siding.app.recording.snapshots import TaskSnapshots, diff_stat_record, mode_record
from siding.errors import SidingError
from siding.files.durable import flush, flush_dir, make_dirs, remove_file
from siding.git.snapshots.capture import Capture
from siding.git.snapshots.patches import DiffStat
from siding.hashing import sha256_of_file
from siding.ids import new_act_id, step_id
from siding.ledger.damage import highest_number
from siding.ledger.details.checkpoint import CheckpointDetail
from siding.ledger.details.run import RunDetail
from siding.ledger.draft import Draft
from siding.ledger.intents import Intent
from siding.ledger.reports import LeftProcess, OutputReport, ProcessReport
from siding.ledger.step import Step, StepKind, StepStatus
from siding.process.command import ProcessInfo
from siding.process.output_files import (
    Recovered,
    has_output,
    recover_output,
    rename_output,
    settle_output,
)
from siding.process.tree import Ended, end_token
from siding.storage.locks import FileLock, Holder, LockBusy
from siding.tasks.registry import Workspace
from siding.tasks.task import Task

OUTSIDE = "changes made outside Siding"


class BaseUnknown(SidingError):
    """Nobody can say what the task began with, so nobody can say what it changed."""

    code = "base_unknown"


class Recorder:
    """Makes the steps of one task. Its maker holds the task's lock for as long as it lives."""

    def __init__(self, project: Project, task: Task, workspace: Workspace, hold: Hold) -> None:
        self.project = project
        self.task = task
        self.workspace = workspace
        self.root = Path(workspace.path)
        self.layout = project.task_layout(task.id)
        self.ledger = project.ledger(task.id)
        self.intents = hold.intents
        self.snapshots = TaskSnapshots(project, workspace, keep_fds=(hold.fd,))
        self.redaction = project.redaction

    def capture(self, number: int, kind: str) -> Capture:
        """Return the workspace as it is now, as a snapshot on disk."""
        self.project.app.tell("taking a snapshot of the workspace")
        try:
            return self.snapshots.capture(step=step_id(number) if number else "base", kind=kind)
        finally:
            self.project.app.tell("")

    def settle(self, message: str = OUTSIDE) -> list[Step]:
        """Bring the ledger up to date with what is there; return the steps that took.

        First the step that was cut off, if there is one, with the output and changes it left; then
        whatever else changed since the last step, so that each step begins where the one before
        it ended.
        """
        made = self.settle_interrupted()
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
        """Bring the newest output into its final form, if there was no room for that before."""
        run = step.as_run
        told = run.output if run else None
        if told is None or told.stdout_bytes is None:
            return
        counted = told.stdout_bytes
        output = self.layout.artifact(step.number, "output")
        if not settle_output(output, counted):
            recover_output(output)
            settle_output(output, counted)

    def changes_since_base(self) -> int:
        """Return how many files differ from the base; `settle` has been called.

        Raises BaseUnknown: nobody may take that for no change.
        """
        tip, base = self.snapshots.tip(), self.workspace.base_snapshot
        if tip is None or not base:
            raise _base_unknown(self.task)
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
        return _highest_artifact(self.layout.artifacts_dir, highest) + 1

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
        """Record a step whose writer died, with the output and the changes it left."""
        left = end_token(intent.token) if intent.token else None
        draft = intent.draft
        if intent.kind == StepKind.APPLY.value and not draft.status:
            from siding.app.unfinished.applying import finish_apply  # 16 ms, and hardly ever needed

            draft = finish_apply(self.project, draft)
        if not draft.status:
            draft = draft._replace(status=StepStatus.INTERRUPTED.value)
            if intent.kind == StepKind.RUN.value and draft.exit_code is None:
                draft = draft._replace(exit_code=-1)
        found = None
        detail = draft.detail
        if isinstance(detail, RunDetail):
            found = recover_output(self._output_of(intent))
            draft = draft._replace(detail=_with_what_was_left(detail, found, left))
            if detail.sandbox is not None:  # what was committed inside waits to be taken over
                from siding.app.unfinished.sandbox_commits import take_over_leftover

                take_over_leftover(self.project, self.layout, self.workspace)
        step = self.finish(intent, draft._replace(recovered=True))
        if found is not None:
            settle_output(self.layout.artifact(step.number, "output"), found.stdout_bytes)
        self.project.events.emit(StepInterrupted(self.task, step))
        return step

    def _write_down(self, intent: Intent, after: Capture) -> Step:
        before = intent.parent or after.snapshot
        told = intent.draft.as_record()
        patch, digest, stat = self._patch(intent, before, after.snapshot)
        ended_at = intent.draft.ended_at or self.project.app.now()
        record: dict[str, Any] = {
            "kind": intent.kind,
            **({"act": intent.act} if intent.act else {}),
            "policy_events": [],
            "session_id": None,
            "agent": None,
            "usage": None,
            **told,
            "started_at": intent.started_at,
            "ended_at": ended_at,
            "diff_stat": diff_stat_record(stat),
            **mode_record(self.snapshots.mode_changes(before, after.snapshot, after.modes)),
            "snapshot": after.snapshot,
            "parent": before,
            "coverage": after.coverage.as_record(),
            **({"patch_sha256": digest} if digest else {}),
        }
        if intent.draft.duration_ms is None:
            record["duration_ms"] = _milliseconds(intent.started_at, ended_at)
        if after.heads:
            record["commits"] = list(after.heads)
        place = partial(self._name_artifacts, intent, patch)
        step = self.ledger.append(record, number=intent.number, place=place)
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

    def _patch(
        self, intent: Intent, before: str, after: str
    ) -> tuple[Path | None, str | None, DiffStat | None]:
        """Write the patch; return where, its SHA-256 and its figures, None where it is empty."""
        if before == after:
            return None, None, None
        make_dirs(self.layout.artifacts_dir)
        path = self.layout.artifact(f".{intent.stem}", "patch.tmp")
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            stat = self.snapshots.write_patch_counted(before, after, fd)
            size = os.lseek(fd, 0, os.SEEK_END)
            if size == 0:
                remove_file(path)
                return None, None, stat
            digest = sha256_of_file(fd)
            flush(fd)
        finally:
            os.close(fd)
        return path, digest, stat

    def _name_artifacts(self, intent: Intent, patch: Path | None, number: int) -> dict[str, Any]:
        """Give the act's artifacts the number of its step, durably; return the line's field."""
        names: dict[str, str] = {}
        if patch is not None:
            named = self.layout.artifact(number, "patch")
            patch.replace(named)
            names["patch"] = f"artifacts/{named.name}"
        run = intent.draft.detail
        if isinstance(run, RunDetail):
            counted = run.output.stdout_bytes if run.output else None
            named = self.layout.artifact(number, "output")
            if rename_output(self._output_of(intent), named, counted):
                names["output"] = f"artifacts/{named.name}"
        if names:
            flush_dir(self.layout.artifacts_dir)
        return {"artifacts": names}

    def _output_of(self, intent: Intent) -> Path:
        """Return where an act's output is: cut off in its end, it may have its number already."""
        path = self.layout.artifact(intent.stem, "output")
        if has_output(path):
            return path
        return self.layout.artifact(intent.number, "output")


def _with_what_was_left(
    detail: RunDetail, found: Recovered | None, left: Ended | None
) -> RunDetail:
    """Return what a run whose recorder died did, with the output and the processes it left."""
    if found is not None and detail.output is None:
        detail = detail._replace(
            output=OutputReport(
                streams=found.streams.value,
                stdout_bytes=found.stdout_bytes,
                stderr_bytes=found.stderr_bytes,
                sha256=found.sha256,
                complete=False,
            )
        )
    if left is not None and (left.ended or left.survivors):
        report = ProcessReport(ended=as_left(left.ended), survivors=as_left(left.survivors))
        detail = detail._replace(processes=report)
    return detail


def as_left(processes: Sequence[ProcessInfo]) -> tuple[LeftProcess, ...]:
    """Return processes as a line holds them."""
    return tuple(LeftProcess(*each) for each in processes)


def open_recorder(project: Project, task: Task, hold: Hold) -> Recorder:
    """Return the recorder of a task whose lock is held; raise NoWorkspace when it has no place."""
    if os.path.lexists(project.task_layout(task.id).root / "phase-intent.json"):
        from siding.app.unfinished.phases import finish_before_work

        finish_before_work(project, task)  # it may have left git's lock in the workspace
    workspace = require_workspace(project, task)
    if project.registry.of_task(task.id) is None:
        from siding.app.place.take_over import take_over  # for homes of the bar tool only

        workspace = take_over(project, task, workspace)
    elif not workspace.base_snapshot:
        if workspace.rest.get(REBUILT):  # the workspace as it is now is not what it began as
            raise _base_unknown(task)
        workspace = _take_base_snapshot(project, task, workspace, hold)
    if project.registry.lacks(task.id):
        with project.changing(f"writing down the workspace of task {task.id}"):
            project.registry.mend()
    return Recorder(project, task, workspace, hold)


def _base_unknown(task: Task) -> BaseUnknown:
    return BaseUnknown(
        f"what task {task.name!r} began with is not known: its snapshots are lost or damaged",
        hint="`siding doctor` says what is lost and begins the recording anew; nothing in the "
        "workspace was touched",
    )


def _take_base_snapshot(
    project: Project, task: Task, workspace: Workspace, hold: Hold
) -> Workspace:
    """Record the workspace as it was made: its bytes, which conversions may have changed."""
    base = Recorder(project, task, workspace, hold).capture(0, "base")
    lacks = {} if base.coverage.complete else {"base_coverage": base.coverage.as_record()}
    with project.changing(f"recording the base of task {task.id}"):
        workspace = workspace._replace(
            base_snapshot=base.snapshot, rest={**workspace.rest, **lacks}
        )
        project.registry.put(workspace)
    return workspace


def _is_line_of(step: Step, intent: Intent) -> bool:
    """Tell whether a step is the one that an intent announces."""
    if intent.act:
        return step.act == intent.act
    return step.number >= intent.number  # announced by a version whose acts had no id


def _highest_artifact(directory: Path, at_least: int) -> int:
    """Return the highest step number that an artifact or `at_least` has."""
    number = at_least
    while any((directory / f"{number + 1:04d}.{kind}").exists() for kind in ("output", "patch")):
        number += 1
    return number


def _milliseconds(start: str, end: str) -> int:
    """Return the time between two moments, 0 when the clock was set back in between."""
    from datetime import datetime

    try:
        passed = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    except ValueError:
        return 0
    return max(0, int(passed.total_seconds() * 1e3))
