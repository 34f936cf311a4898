"""Make steps: snapshot, act, snapshot, write it down. The one way anything enters a ledger.

The order is the promise. Before anything runs, the snapshot and the intent (``running.json``) are
on disk. After it ended: how it ended, the new snapshot, the patch, the ledger line; only then the
intent goes away. Whatever is cut off in between is finished by `settle`, which every command that
works in the task calls first.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from siding.app.lost_workspaces import REBUILT
from siding.app.project import Project
from siding.app.snapshot_loss import lost_until
from siding.app.snapshots import TaskSnapshots, diff_stat_record, mode_record
from siding.app.task_workspace import require_workspace
from siding.errors import SidingError
from siding.files.durable import flush, flush_dir, make_dirs, remove_file
from siding.git.capture import Capture
from siding.git.patches import DiffStat
from siding.hashing import sha256_of_file
from siding.ids import step_id
from siding.ledger.damage import highest_number
from siding.ledger.details.checkpoint import CheckpointDetail
from siding.ledger.details.run import RunDetail
from siding.ledger.draft import Draft
from siding.ledger.reports import LeftProcess, OutputReport, ProcessReport
from siding.ledger.running import Running, clear_running, read_running, write_running
from siding.ledger.step import Step, StepKind, StepStatus
from siding.ledger.store import StepTaken
from siding.process.command import ProcessInfo
from siding.process.output_files import Recovered, recover_output, settle_output
from siding.process.tree import Ended, end_token
from siding.storage.documents import write_document
from siding.storage.locks import FileLock, LockBusy
from siding.tasks.registry import Workspace
from siding.tasks.task import Task

OUTSIDE = "changes made outside Siding"


class BaseUnknown(SidingError):
    """Nobody can say what the task began with, so nobody can say what it changed."""

    code = "base_unknown"


class Recorder:
    """Makes the steps of one task. Its maker holds the task's lock for as long as it lives."""

    def __init__(self, project: Project, task: Task, workspace: Workspace, lock: FileLock) -> None:
        self.project = project
        self.task = task
        self.workspace = workspace
        self.root = Path(workspace.path)
        self.layout = project.task_layout(task.id)
        self.ledger = project.ledger(task.id)
        self.snapshots = TaskSnapshots(project, workspace, keep_fds=(lock.fd,))
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
        """Record the step that was cut off, if there is one."""
        running = read_running(self.layout.running_json)
        if running is not None:
            self.ledger.close_last_line()
        last = self.ledger.last()
        if last is not None:
            self._join_output(last)
        if running is None:
            return []
        if last is not None and last.number >= running.number:
            # Its line was written; what was cut off is only the clearing of the intent.
            clear_running(self.layout.running_json)
            return []
        return [self._finish_interrupted(running)]

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
        before = self._expected()
        number = self.next_number()
        started = self.project.app.now()
        now = self.capture(number, StepKind.CHECKPOINT.value)
        if only_if_changed and now.snapshot == before:
            return None
        running = Running(
            number=number,
            kind=StepKind.CHECKPOINT.value,
            started_at=started,
            pid=self.project.app.pid,
            token="",
            parent=before or now.snapshot,
            draft=Draft(CheckpointDetail(self.redaction.text(message), origin)).completed(),
        )
        make_dirs(self.layout.artifacts_dir)
        write_running(self.layout.running_json, running)  # cut off from here on, it is finished
        return self._write_down(running, now)

    def next_number(self) -> int:
        """Return the number of the next step; damaged lines count, so no id is used twice."""
        last = self.ledger.last()
        highest = highest_number(self.ledger.path, last.number if last else 0)
        return _highest_artifact(self.layout.artifacts_dir, highest) + 1

    def begin(self, draft: Draft, *, token: str = "") -> Running:
        """Write down that a step begins, durably; `settle` has been called."""
        running = Running(
            number=self.next_number(),
            kind=draft.kind,
            started_at=self.project.app.now(),
            pid=self.project.app.pid,
            token=token,
            parent=self._expected(),
            draft=self._redacted(draft),
        )
        make_dirs(self.layout.artifacts_dir)
        write_running(self.layout.running_json, running)
        return running

    def ended(self, running: Running, draft: Draft) -> Running:
        """Write down how the act ended, before the work of recording it starts."""
        at = self.project.app.now()
        told = running._replace(draft=self._redacted(draft._replace(ended_at=at)))
        with self._keeping_if_taken(running.number, told.draft.as_record()):
            self.ledger.require_free(running.number)  # else the intent there is another step's
        write_running(self.layout.running_json, told)
        return told

    def finish(
        self,
        running: Running,
        draft: Draft,
        *,
        later: Callable[[Draft], Draft] | None = None,
    ) -> Step:
        """Record the step `running`, which ended as `draft` says, with what it left in the
        workspace.

        `later` adds to the draft; it is asked after the snapshot, to work beside it.
        """
        after = self.capture(running.number, running.kind)
        told = draft if later is None else later(draft)
        return self._write_down(running._replace(draft=self._redacted(told)), after)

    def _redacted(self, draft: Draft) -> Draft:
        return Draft.from_record(draft.kind, self.redaction.record(draft.as_record()))

    def abandon(self, running: Running) -> None:
        """Forget a step that did nothing at all."""
        del running
        clear_running(self.layout.running_json)

    def _expected(self) -> str | None:
        """Return the snapshot the workspace should be at: the last step's, or the base's."""
        last = self.ledger.last()
        lost = lost_until(self.workspace)
        if last is not None and last.snapshot is not None and last.number > lost:
            return last.snapshot
        return self.workspace.base_snapshot or None

    def _finish_interrupted(self, running: Running) -> Step:
        """Record a step whose writer died, with the output and the changes it left."""
        left = end_token(running.token) if running.token else None
        draft = running.draft
        if running.kind == StepKind.APPLY.value and not draft.status:
            from siding.app.apply_recovery import finish_apply  # 16 ms, and hardly ever needed

            draft = finish_apply(self.project, draft)
        if not draft.status:
            draft = draft._replace(status=StepStatus.INTERRUPTED.value)
            if running.kind == StepKind.RUN.value and draft.exit_code is None:
                draft = draft._replace(exit_code=-1)
        output = self.layout.artifact(running.number, "output")
        found = None
        detail = draft.detail
        if isinstance(detail, RunDetail):
            found = recover_output(output)
            draft = draft._replace(detail=_with_what_was_left(detail, found, left))
            if detail.sandbox is not None:  # what was committed inside waits to be taken over
                from siding.app.sandbox_commits import take_over_leftover

                take_over_leftover(self.project, self.layout, self.workspace)
        step = self.finish(running, draft._replace(recovered=True))
        if found is not None:
            settle_output(output, found.stdout_bytes)
        self.project.events.emit(
            "step.interrupted",
            task={"id": self.task.id, "status": self.task.status.value},
            step={"id": step.id, "status": step.status},
        )
        return step

    def _write_down(self, running: Running, after: Capture) -> Step:
        before = running.parent or after.snapshot
        told = running.draft.as_record()
        with self._keeping_if_taken(running.number, told):
            self.ledger.require_free(running.number)  # else the patch there is another step's
        artifacts, bound, stat = self._artifacts(running.number, before, after.snapshot)
        ended_at = running.draft.ended_at or self.project.app.now()
        record: dict[str, Any] = {
            "step_id": step_id(running.number),
            "kind": running.kind,
            "policy_events": [],
            "session_id": None,
            "agent": None,
            "usage": None,
            **told,
            "started_at": running.started_at,
            "ended_at": ended_at,
            "diff_stat": diff_stat_record(stat),
            **mode_record(self.snapshots.mode_changes(before, after.snapshot, after.modes)),
            "artifacts": artifacts,
            "snapshot": after.snapshot,
            "parent": before,
            "coverage": after.coverage.as_record(),
            **bound,
        }
        if running.draft.duration_ms is None:
            record["duration_ms"] = _milliseconds(running.started_at, ended_at)
        if after.heads:
            record["commits"] = list(after.heads)
        with self._keeping_if_taken(running.number, record):
            step = self.ledger.append(record)
        clear_running(self.layout.running_json)
        self._tidy()
        self.project.events.emit(
            "step.recorded",
            task={"id": self.task.id, "status": self.task.status.value},
            worktree={"name": self.workspace.name, "path": self.workspace.path},
            step={"id": step.id, "kind": step.kind, "status": step.status},
        )
        return step

    @contextmanager
    def _keeping_if_taken(self, number: int, record: Mapping[str, Any]) -> Iterator[None]:
        """Keep what was to be recorded beside the ledger, and say where, if another step has the
        number: only a process that does not hold the task's lock can have taken it."""
        try:
            yield
        except StepTaken as taken:
            unique = self.project.app.random_bytes(4).hex()
            path = self.layout.root / f"unrecorded-{step_id(number)}-{unique}.json"
            document = {"version": 1, "step_id": step_id(number), **self.redaction.record(record)}
            write_document(path, document)
            output = self.layout.artifact(number, "output")
            kept = f"what was to be recorded is kept in {path}"
            if output.exists():
                kept += f", its output in {output}"
            raise StepTaken(taken.message, hint=f"{taken.hint}; {kept}") from taken

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

    def _artifacts(
        self, number: int, before: str, after: str
    ) -> tuple[dict[str, str], dict[str, str], DiffStat | None]:
        """Write the patch; return the artifact names, the hashes that bind them to the line, and
        the patch's figures."""
        names: dict[str, str] = {}
        bound: dict[str, str] = {}
        stat = None
        if before != after:
            make_dirs(self.layout.artifacts_dir)
            patch = self.layout.artifact(number, "patch")
            digest, stat = self._write_patch(patch, before, after)
            if digest is not None:
                names["patch"] = f"artifacts/{patch.name}"
                bound["patch_sha256"] = digest
        output = self.layout.artifact(number, "output")
        if output.exists():
            names["output"] = f"artifacts/{output.name}"
        return names, bound, stat

    def _write_patch(self, path: Path, before: str, after: str) -> tuple[str | None, DiffStat]:
        """Write the patch between two snapshots; return its SHA-256, None when it is empty, and
        its figures."""
        temporary = path.with_name(f".{path.name}.tmp")
        fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            stat = self.snapshots.write_patch_counted(before, after, fd)
            size = os.lseek(fd, 0, os.SEEK_END)
            if size == 0:
                remove_file(temporary)
                return None, stat
            digest = sha256_of_file(fd)
            flush(fd)
        finally:
            os.close(fd)
        temporary.replace(path)
        flush_dir(path.parent)
        return digest, stat


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


def open_recorder(project: Project, task: Task, lock: FileLock) -> Recorder:
    """Return the recorder of a task whose lock is held; raise NoWorkspace when it has no place."""
    if os.path.lexists(project.task_layout(task.id).root / "phase-intent.json"):
        from siding.app.phase_recovery import finish_before_work

        finish_before_work(project, task)  # it may have left git's lock in the workspace
    workspace = require_workspace(project, task)
    if project.registry.of_task(task.id) is None:
        from siding.app.take_over import take_over  # for homes of the bar tool only

        workspace = take_over(project, task, workspace)
    elif not workspace.base_snapshot:
        if workspace.rest.get(REBUILT):  # the workspace as it is now is not what it began as
            raise _base_unknown(task)
        workspace = _take_base_snapshot(project, task, workspace, lock)
    if project.registry.lacks(task.id):
        with project.changing(f"writing down the workspace of task {task.id}"):
            project.registry.mend()
    return Recorder(project, task, workspace, lock)


def _base_unknown(task: Task) -> BaseUnknown:
    return BaseUnknown(
        f"what task {task.name!r} began with is not known: its snapshots are lost or damaged",
        hint="`siding doctor` says what is lost and begins the recording anew; nothing in the "
        "workspace was touched",
    )


def _take_base_snapshot(
    project: Project, task: Task, workspace: Workspace, lock: FileLock
) -> Workspace:
    """Record the workspace as it was made: its bytes, which conversions may have changed."""
    base = Recorder(project, task, workspace, lock).capture(0, "base")
    lacks = {} if base.coverage.complete else {"base_coverage": base.coverage.as_record()}
    with project.changing(f"recording the base of task {task.id}"):
        workspace = workspace._replace(
            base_snapshot=base.snapshot, rest={**workspace.rest, **lacks}
        )
        project.registry.put(workspace)
    return workspace


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
