"""Find tasks whose snapshots are lost or damaged, and repair them so that recording can continue.

Worktrees of forks that killed processes left half-made are found as well.

Only what recording needs is checked: the newest snapshot with all its directories, the base, and
the snapshot of the last step. `siding verify` checks all older ones.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from siding.forks.sweep import half_made, mend
from siding.ground.errors import SidingError, counted
from siding.ground.git.discovery import is_git_directory
from siding.ground.git.refs import is_sha, write_ref
from siding.ground.ids import Sha, TaskId
from siding.record.ledger.step import Step
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.place.take_over import base_seed
from siding.record.recording.freed import freed_record
from siding.record.recording.opening import open_recorder
from siding.record.runs.store import is_at_work
from siding.record.snapshots.seeding import add_task, pin
from siding.record.snapshots.store_upkeep import clear_task, repair_store, set_damaged_objects_aside
from siding.record.snapshots.task_line import base_snapshot
from siding.record.tasks.registry import SNAPSHOTS_LOST, Workspace
from siding.record.tasks.task import Task, WorkspaceState

Problem = tuple[str, str, Callable[[], str] | None]
BEGUN_ANEW = "the recording began anew: the snapshots before this one are lost"


def snapshot_problems(project: Project) -> Iterator[Problem]:
    """Yield each problem as (what is wrong, what the repair does, a function that repairs it)."""
    for workspace in project.registry.all():
        task_id = workspace.task_id
        if workspace.intent is not None or task_id not in project.tasks.ids():
            continue
        if is_at_work(project.task_layout(task_id)) or is_sound(project, workspace):
            continue
        here = workspace.status in (WorkspaceState.ACTIVE, WorkspaceState.KEPT)
        if not here and workspace.lost_until:
            continue  # the loss was noted before
        steps = _lost_steps(project, workspace)
        said = f"the snapshots of task {task_id} are missing or damaged"
        if steps:
            said += f": {_range(steps)} can no longer be gone back to"
        if here and Path(workspace.path).is_dir():
            advice = "they begin anew with its base commit, then the workspace as it is now"
            yield said, advice, partial(_begin_anew, project, task_id)
        elif not here:
            advice = "it is noted; its records, and what is in the trash, are kept"
            yield said, advice, partial(_note, project, task_id)


def is_sound(project: Project, workspace: Workspace) -> bool:
    """Tell whether steps of the task can be recorded: newest snapshot, base and last step are
    whole."""
    if not _is_in_store(project, workspace.task_id):
        return False
    last = project.ledger(workspace.task_id).last()
    wanted = [workspace.base_snapshot] if workspace.base_snapshot else []
    if last is not None and last.snapshot and last.number > workspace.lost_until:
        wanted.append(Sha(last.snapshot))
        if last.snapshot != project.snapshots.tip(workspace.task_id):
            return _are_present(project, wanted) and _is_whole(project, workspace, last)
    return _are_present(project, wanted)


def _is_in_store(project: Project, task_id: TaskId) -> bool:
    """Tell whether the store has the task's base and newest snapshot with all its directories."""
    store = project.snapshots
    try:
        tip = store.tip(task_id)
        store.base(task_id)
        if tip is None:
            return False
        return store.git.attempt(store.place(), ["ls-tree", "-r", tip]).returncode == 0
    except SidingError:
        return False


def _are_present(project: Project, wanted: list[Sha]) -> bool:
    if not all(is_sha(each) for each in wanted):
        return False  # a record that was damaged names no object
    try:
        return set(wanted) <= project.snapshots.present(sorted(wanted))
    except SidingError:
        return False


def _begin_anew(project: Project, task_id: TaskId) -> str:
    """Restart recording from the task's base, and record the present workspace as a step.

    Snapshots that are whole in the store are kept. Otherwise the task's snapshots are created again
    from its base commit. If this is interrupted, the problem is found and repaired again.
    """
    task = project.tasks.load(task_id)
    with holding_task(project, task_id, "doctor") as hold:
        workspace = project.registry.of_task(task_id)
        if workspace is None or is_sound(project, workspace):
            return "somebody else mended it"
        aside = None
        if not _is_in_store(project, task_id):
            aside = _seed_again(project, task, workspace)
        steps = _lost_steps(project, workspace)
        base = base_snapshot(project.snapshots, task_id) or Sha("")
        last = project.ledger(task_id).last()
        rest = dict(workspace.rest)
        if last is not None and last.number in {each.number for each in steps}:
            rest[SNAPSHOTS_LOST] = last.number
        with project.changing("doctor"):
            project.registry.put(workspace._replace(base_snapshot=base, rest=rest))
        recorded = open_recorder(project, task, hold).settle(BEGUN_ANEW)
    done = "the recording goes on from the base commit"
    if recorded:
        done += f"; step {recorded[-1].id} has the workspace as it is"
    if steps:
        done += f". {_range(steps)} can no longer be gone back to; records and outputs are kept"
    if aside is not None:
        done += f". Damaged objects were moved to {aside}"
    return done


def _seed_again(project: Project, task: Task, workspace: Workspace) -> Path | None:
    """Create the task's snapshots again from its base commit; return where damaged objects went."""
    store = project.snapshots
    base = next((each for each in (workspace.base_commit, task.base_commit) if is_sha(each)), None)
    if base is None:
        raise SidingError(f"the base commit of task {task.id} is not known any more")
    repair_store(store)
    pin(project.git, project.paths, base)
    aside = store.root / "damaged" / project.app.random_bytes(6).hex()
    moved = set_damaged_objects_aside(store, aside)
    if _has_ref_again(project, workspace):
        return aside if moved else None
    clear_task(store, task.id)
    git_dir = Path(workspace.git_dir) if workspace.git_dir else None
    add_task(store, base_seed(project, task.id, base, Path(workspace.path), git_dir))
    return aside if moved else None


def _has_ref_again(project: Project, workspace: Workspace) -> bool:
    """Write a lost ref again if the last step's snapshot is whole. Returns whether that helped."""
    store, task_id = project.snapshots, workspace.task_id
    last = project.ledger(task_id).last()
    if store.tip(task_id) is not None or last is None or not _is_whole(project, workspace, last):
        return False
    write_ref(store.root, store.task(task_id).ref, str(last.snapshot))
    return _is_in_store(project, task_id)


def _note(project: Project, task_id: TaskId) -> str:
    with holding_task(project, task_id, "doctor"):
        workspace = project.registry.of_task(task_id)
        last = project.ledger(task_id).last()
        if workspace is not None:
            rest = {**workspace.rest, SNAPSHOTS_LOST: last.number if last else 1}
            with project.changing("doctor"):
                project.registry.put(workspace._replace(rest=rest))
    return "noted: what is in the trash can be brought back, its steps cannot be gone back to"


def _lost_steps(project: Project, workspace: Workspace) -> list[Step]:
    """Return the steps whose snapshot is not whole."""
    store = project.snapshots
    steps = [each for each in project.ledger(workspace.task_id).steps() if each.snapshot]
    if not is_git_directory(store.root):
        return steps if not store.objects.is_dir() else []  # `siding doctor` makes it one again
    return [each for each in steps if not _is_whole(project, workspace, each)]


def _is_whole(project: Project, workspace: Workspace, step: Step) -> bool:
    store = project.snapshots
    if not is_sha(str(step.snapshot)) or not is_sha(workspace.base_commit):
        return False
    freed = freed_record(project).of_task(workspace.task_id)
    if step.snapshot in freed:
        return True  # it is gone on purpose, and its line says what it changed
    # Of a line of which snapshots were freed, each is looked at alone.
    alone = "^{tree}" if freed else ""
    tips = [f"{step.snapshot}{alone}", "--not", f"{workspace.base_commit}{alone}"]
    asked = ["rev-list", "--objects", "--quiet", *tips, "--"]
    return store.git.attempt(store.place(), asked).returncode == 0


def _range(steps: list[Step]) -> str:
    if len(steps) == 1:
        return f"step {steps[0].id}"
    return f"steps {steps[0].id} to {steps[-1].id}"


def pool_problems(project: Project) -> Iterator[tuple[str, str, Callable[[], str]]]:
    """Yield what is wrong with the pool: a sentence, what is done about it, and what does it."""
    forks = project.layout.forks
    linked = project.paths.common_dir / "worktrees"
    names = [
        name
        for name in half_made(project)
        if os.path.lexists(forks.workspace(name)) or os.path.lexists(linked / name)
    ]
    if names:
        yield (
            f"left half-made: {counted(len(names), 'worktree')} for forks, "
            f"{', '.join(sorted(names)[:5])}",
            "they are moved into the trash",
            partial(_mend_pool, project),
        )


def _mend_pool(project: Project) -> str:
    return f"moved {mend(project)} into the trash"
