"""Find tasks whose snapshots are lost or damaged, and let the recording go on.

Only what the recording stands on is looked at: the newest snapshot with all its directories, the
base, and the state after the last step. Whether every older one is whole, `siding verify` tells.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from siding.app.locking import holding_task
from siding.app.project import Project
from siding.app.recording import open_recorder
from siding.app.snapshot_loss import LOST, lost_until
from siding.errors import SidingError
from siding.git.pins import pin
from siding.git.seeding import Seed, add_task
from siding.ids import Sha, TaskId
from siding.ledger.step import Step
from siding.storage.locks import FileLock
from siding.tasks.registry import Workspace
from siding.tasks.states import WorkspaceState

Problem = tuple[str, str, Callable[[], str] | None]
BEGUN_ANEW = "the recording began anew: the snapshots before this one are lost"


def snapshot_problems(project: Project) -> Iterator[Problem]:
    """Yield what disagrees, what can be done, and the act that does it."""
    for workspace in project.registry.all():
        task_id = workspace.task_id
        if workspace.intent is not None or task_id not in project.tasks.ids():
            continue
        if FileLock(project.task_layout(task_id).lock).is_locked() or is_sound(project, workspace):
            continue
        here = workspace.status in (WorkspaceState.ACTIVE, WorkspaceState.KEPT)
        if not here and lost_until(workspace):
            continue  # it was noted
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
    """Tell whether the task can be recorded: its newest snapshot, its base, its last step."""
    store = project.snapshots
    task_id = workspace.task_id
    try:
        tip = store.tip(task_id)
        if tip is None or store.git.attempt(store.place(), ["ls-tree", "-r", tip]).returncode:
            return False
        store.base(task_id)
        last = project.ledger(task_id).last()
        wanted = {workspace.base_snapshot} if workspace.base_snapshot else set()
        if last is not None and last.snapshot and last.number > lost_until(workspace):
            wanted.add(Sha(last.snapshot))
        return wanted <= store.present(sorted(wanted))
    except SidingError:
        return False


def _begin_anew(project: Project, task_id: TaskId) -> str:
    """Seed the task from its base commit, and record the workspace as it is as a step of its own.

    Cut off anywhere, the base or the last step is still not in the store, and this is done again.
    """
    task = project.tasks.load(task_id)
    with holding_task(project, task_id, "doctor") as lock:
        workspace = project.registry.of_task(task_id)
        if workspace is None or is_sound(project, workspace):
            return "somebody else mended it"
        store = project.snapshots
        store.repair()
        pin(project.git, project.paths, workspace.base_commit)
        unique = project.app.random_bytes(6).hex()
        aside = store.set_damaged_aside(store.root / "damaged" / unique)
        steps = _lost_steps(project, workspace)
        store.remove_task(task_id)
        seed = Seed(
            task_id=task_id,
            base=workspace.base_commit,
            worktree=Path(workspace.path),
            own_git_dir=Path(workspace.git_dir) if workspace.git_dir else None,
            fresh_index=None,
            excludes=project.user_settings.excludes,
            at=int(project.app.clock.now().timestamp()),
            message=f"base\n\nTask: {task_id}",
        )
        base = add_task(store, seed)
        last = project.ledger(task_id).last()
        rest = {**workspace.rest, LOST: last.number if last else 0}
        with project.changing("doctor"):
            project.registry.put(workspace._replace(base_snapshot=base, rest=rest))
        recorded = open_recorder(project, task, lock).settle(BEGUN_ANEW)
    done = "the recording goes on from the base commit"
    if recorded:
        done += f"; step {recorded[-1].id} has the workspace as it is"
    if steps:
        done += f". {_range(steps)} can no longer be gone back to; records and outputs are kept"
    if aside:
        done += f". Damaged objects were moved to {store.root / 'damaged' / unique}"
    return done


def _note(project: Project, task_id: TaskId) -> str:
    with holding_task(project, task_id, "doctor"):
        workspace = project.registry.of_task(task_id)
        last = project.ledger(task_id).last()
        if workspace is not None:
            rest = {**workspace.rest, LOST: last.number if last else 1}
            with project.changing("doctor"):
                project.registry.put(workspace._replace(rest=rest))
    return "noted: what is in the trash can be brought back, its steps cannot be gone back to"


def _lost_steps(project: Project, workspace: Workspace) -> list[Step]:
    """Return the steps whose snapshot is not whole."""
    store = project.snapshots
    steps = [each for each in project.ledger(workspace.task_id).steps() if each.snapshot]
    if not store.objects.is_dir():
        return steps
    return [each for each in steps if not _is_whole(project, workspace, each)]


def _is_whole(project: Project, workspace: Workspace, step: Step) -> bool:
    store = project.snapshots
    asked = ["rev-list", "--objects", "--quiet", str(step.snapshot), "--not", workspace.base_commit]
    return store.git.attempt(store.place(), asked).returncode == 0


def _range(steps: list[Step]) -> str:
    if len(steps) == 1:
        return f"step {steps[0].id}"
    return f"steps {steps[0].id} to {steps[-1].id}"
