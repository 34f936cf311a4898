"""Find inconsistencies between records, directories, git's worktree list and locks; repair them.

Nothing here deletes work. A half-made empty workspace is taken back, an interrupted act is
finished, a loss is reported. Each check is a function that yields findings. A finding that can be
repaired has a function that does it.
"""

from collections.abc import Iterator
from functools import partial

from siding.ground.errors import NotFound, SidingError, UsageError, counted
from siding.ground.files.attributes import CANNOT_EXCHANGE, file_system_of
from siding.ground.files.durable import TEMPORARY_PREFIX
from siding.ground.ids import TaskId, step_id
from siding.ground.storage.locks import FileLock
from siding.guard.enforcement import may_be_judged
from siding.guard.in_force import ground_of, policy_in
from siding.record.ledger.intents import Intents
from siding.record.place.home_mark import HomeCopied
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.recording.missing_steps import damaged_steps
from siding.record.recording.opening import open_anywhere
from siding.record.recording.verify_anchor import disagreement
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import TaskBusy
from siding.record.unfinished.leftovers import find_abandoned, sweep_abandoned
from siding.record.unfinished.sandbox_commits import (
    refused_quarantines,
)
from siding.record.workspaces.workspaces import recover
from siding.upkeep.findings import Finding, Mended
from siding.upkeep.projects import Older
from siding.upkeep.sandbox import missing_engine
from siding.upkeep.snapshots import pool_problems, snapshot_problems
from siding.upkeep.stores import device_problems, waiting_problems, workflow_problems
from siding.upkeep.workspaces import is_busy, workspace_findings


def examine(project: Project) -> Iterator[Finding]:
    """Yield all inconsistencies of the project. Changes nothing."""
    if project.other_home is not None:
        copied = HomeCopied(project.app.home.root, project.other_home)
        yield Finding(what=copied.message, advice=str(copied.hint))
        return
    yield from _lost_registry(project)
    yield from _cut_off_acts(project)
    yield from _interrupted_steps(project)
    yield from _unreadable(project)
    yield from workspace_findings(project)
    yield from _broken_pointer(project)
    yield from _broken_policy(project)
    yield from _left_behind(project)
    yield from _no_sandbox(project)
    yield from _no_exchange(project)
    yield from _refused_quarantines(project)
    for what, advice, mend_it in (
        *snapshot_problems(project),
        *waiting_problems(project),
        *device_problems(project),
        *pool_problems(project),
        *workflow_problems(project),
    ):
        yield Finding(what=what, advice=advice, mend=mend_it)


def mend(findings: list[Finding]) -> Iterator[Mended]:
    """Repair the findings one by one and yield the results. A failure does not stop the others."""
    for finding in findings:
        if finding.mend is None:
            yield Mended(finding=finding, done=None, failed=None)
            continue
        try:
            yield Mended(finding=finding, done=finding.mend(), failed=None)
        except (SidingError, OSError) as error:
            yield Mended(finding=finding, done=None, failed=str(error))


def older_project(project: Project, older: Older | None) -> Iterator[Finding]:
    """Yield a finding if the repository was moved and a newer project is now used instead of
    `older`."""
    if older is not None:
        newer = project.layout.root.name
        tasks = counted(older.tasks, "task")
        yield Finding(
            what=f"an older project of this repository, {older.name} with {tasks}, is out of "
            f"reach: the repository was at {older.root!r}, and {newer} was made here since",
            advice=f"`siding doctor --adopt {older.name}` goes over to it, "
            f"`siding doctor --adopt {newer}` comes back; nothing of either is lost",
        )


def _lost_registry(project: Project) -> Iterator[Finding]:
    problem = project.registry.problem()
    if problem is not None:
        yield Finding(
            what=problem,
            advice="it is made again from the tasks, the disk and the trash; a damaged one is kept",
            mend=partial(_mend_registry, project),
        )


def _mend_registry(project: Project) -> str:
    with project.changing("doctor"):
        project.registry.mend()
    return "made again from the tasks, the disk and the trash"


def _cut_off_acts(project: Project) -> Iterator[Finding]:
    for workspace in project.registry.all():
        if workspace.intent is None or is_busy(project, workspace.task_id):
            continue
        yield Finding(
            what=f"{workspace.intent.get('op')} of the workspace of task {workspace.task_id} was "
            "cut off",
            advice="it is finished or taken back",
            mend=partial(_recover, project, workspace),
        )


def _recover(project: Project, workspace: Workspace) -> str:
    with holding_task(project, workspace.task_id, "doctor"):
        current = project.registry.of_task(workspace.task_id)
        if current is None or current.intent is None:
            return "somebody else mended it"
        return recover(project, current)


def _interrupted_steps(project: Project) -> Iterator[Finding]:
    for task_id in project.tasks.ids():
        intents = Intents(project.task_layout(task_id))
        try:
            begun = intents.all()
        except SidingError as error:
            yield Finding(what=error.message, advice="the step in progress cannot be read")
            continue
        held = FileLock(project.task_layout(task_id).lock).is_locked()
        for intent in begun:
            if intents.is_cut_off(intent) and not held:
                yield Finding(
                    what=f"step {step_id(intent.number)} of task {task_id} was cut off",
                    advice="it is recorded, with the output and changes it left",
                    mend=partial(_settle, project, task_id),
                )


def _settle(project: Project, task_id: TaskId) -> str:
    task = project.tasks.load(task_id)
    with holding_task(project, task_id, "doctor", beside_runs=True) as hold:
        steps = open_anywhere(project, task, hold).settle()
    return "recorded " + (
        ", ".join(f"step {step.id} ({step.status})" for step in steps) or "nothing"
    )


def _unreadable(project: Project) -> Iterator[Finding]:
    for task_id in project.tasks.ids():
        try:
            task = project.tasks.load(task_id)
        except NotFound:
            if _is_bare(project, task_id):
                continue
            yield Finding(
                what=f"tasks/{task_id} holds no task.json",
                advice="its ledger and artifacts are kept; restore task.json from a backup",
            )
            continue
        except SidingError as error:
            yield Finding(what=error.message, advice=error.hint or "restore it from a backup")
            continue
        for damage in damaged_steps(project, task, whole=True):
            yield Finding(
                what=f"tasks/{task_id}/ledger.jsonl:{damage.line}: {damage.reason}",
                advice="the line is kept as it is; `siding verify` tells what it means",
            )
        changed = disagreement(project, task)
        if changed is not None:
            yield Finding(
                what=f"the record of task {task_id} was changed: {changed}",
                advice=f"`siding verify {task_id}` tells what differs; nothing can mend it",
            )


def _is_bare(project: Project, task_id: TaskId) -> bool:
    """Tell whether a task's directory is empty because creating the task was cut off."""
    files = project.task_layout(task_id).root.iterdir()
    return all(file.name == "lock" or file.name.startswith(TEMPORARY_PREFIX) for file in files)


def _broken_pointer(project: Project) -> Iterator[Finding]:
    active = project.active_task_id()
    if active is None or active in project.tasks.ids():
        return
    yield Finding(
        what=f"the active task {active} is not on the board",
        advice="no task is active until you choose one",
        mend=lambda: _clear_active(project),
    )


def _no_sandbox(project: Project) -> Iterator[Finding]:
    try:
        reason = missing_engine(project)
    except UsageError as error:
        yield Finding(what=error.message, advice=error.hint or "correct the settings")
        return
    if reason is not None:
        yield Finding(
            what=f"the settings ask for a sandbox, and none works here: {reason}",
            advice="install bubblewrap; `siding doctor --sandbox` shows what was tried",
        )


def _no_exchange(project: Project) -> Iterator[Finding]:
    """Yield a finding if a rollback cannot exchange files in one step on this file system."""
    kind = file_system_of(project.layout.root)
    if kind in CANNOT_EXCHANGE:
        yield Finding(
            what=f"the file system of Siding's home ({kind}) cannot exchange two names in one step",
            advice="nothing is lost: going back moves a file out of its place, then the other one "
            "in, and for a moment there is none; a local disk for SIDING_HOME ends that",
        )


def _refused_quarantines(project: Project) -> Iterator[Finding]:
    """Yield a finding for each quarantine of a sandboxed run that could not be taken over."""
    for task_id, kept, why in refused_quarantines(project):
        yield Finding(
            what=f"what a sandboxed run of task {task_id} left for git was refused: {why}",
            advice=f"look at it in {str(kept)!r} if you miss commits; its files are in the step's "
            "snapshot, later runs are not affected, and `siding gc` removes it",
        )


def _left_behind(project: Project) -> Iterator[Finding]:
    found = find_abandoned(project)
    if found:
        count = "1 temporary file or directory"
        if len(found) > 1:
            count = f"{len(found)} temporary files or directories"
        yield Finding(
            what=f"commands that were killed left {count} of their own",
            advice="nobody needs what is in there: it is removed",
            mend=lambda: f"removed {sweep_abandoned(project)}",
        )


def _clear_active(project: Project) -> str:
    with project.changing("doctor"):
        project.set_active(None)
    return "no task is active now"


__all__ = ["Finding", "Mended", "TaskBusy", "examine", "mend", "older_project"]


def _broken_policy(project: Project) -> Iterator[Finding]:
    if not may_be_judged(project):
        return
    broken = policy_in(ground_of(project)).policy.broken
    if broken:
        yield Finding(
            what=f"the policy does not parse: {broken}",
            advice="every run is blocked until it does; `policy.enabled: false` switches it off",
        )
