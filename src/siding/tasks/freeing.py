"""Free what was planned, snapshots and patches, with every task held. Tasks in which runs live
lose none.

The order makes it safe against crashes and power cuts (`record/snapshots/thinning.py`): what stays
is written and read back, then the journal says what is freed, and only then anything is deleted.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from siding.ground.errors import SidingError
from siding.ground.files.durable import flush_dir, make_dirs
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.hashing import sha256_hex
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.journals import Journal
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.ledger.freed import FreedSteps, Freeing, freeable_then
from siding.record.ledger.step import Step
from siding.record.place.busy import describe
from siding.record.place.project import Project
from siding.record.recording.beside import checkout_ids
from siding.record.recording.freed import freed_journal
from siding.record.snapshots.store import SnapshotStore
from siding.record.snapshots.store_upkeep import store_size, verify_snapshots
from siding.record.snapshots.thinning import drop, sweep
from siding.record.tasks.task import TaskBusy
from siding.tasks.recorded_tasks import displaced_blobs
from siding.tasks.reopen import deleted_tasks
from siding.tasks.retention import BLOCK, Retention, plan_retention

_NOTHING = "nothing was freed of the snapshots; try again when it has ended"


class Freed(NamedTuple):
    """What was freed: snapshots of steps and of turns beside a branch, bytes of the store, patches
    of steps and their bytes.

    `failed` says why nothing was.
    """

    steps: int = 0
    turns: int = 0
    bytes: int = 0
    patches: int = 0
    patch_bytes: int = 0
    failed: str | None = None


def free_snapshots(project: Project, shown: Retention) -> Freed:
    """Free what was shown, and finish what an earlier freeing had left.

    What is needed again since it was shown stays, and what is of a task in which a run lives. If
    anything fails, the reason is returned, and the snapshots are there as before.
    """
    try:
        with holding_everything(project):
            sweep(project.snapshots)
            spared = displaced_blobs(project)
            plan = plan_retention(project, shown.older_s, only=shown, spared=spared)
            if plan.blocked:
                return Freed(failed=plan.blocked)
            return _free(project, plan)
    except LockBusy as busy:
        return Freed(failed=f"{describe(busy.holder)}; {_NOTHING}")
    except (SidingError, OSError) as error:
        return Freed(failed=str(error))


def is_unfinished(project: Project) -> bool:
    """Tell whether a freeing was cut off after it had been recorded."""
    return freed_journal(project).read().is_unfinished


@contextmanager
def holding_everything(project: Project) -> Iterator[None]:
    """Hold all tasks and checkouts, the board and the store: nobody records anything meanwhile.

    A run that lives has let its task go, and waits for it in order to record. Raises LockBusy if
    somebody else holds a task: no task is waited for.
    """
    holder = Holder(pid=project.app.pid, since=project.app.now(), what="gc --older")
    with ExitStack() as stack:
        held = _board(project)
        for task_id in held:
            layout = project.task_layout(task_id)
            make_dirs(layout.lock.parent)
            stack.enter_context(FileLock(layout.lock).acquire(timeout_s=0, holder=holder))
        make_dirs(project.layout.locks_dir)
        names = [f"deleted-{gone.id}" for gone in deleted_tasks(project)]
        for name in (*names, *checkout_ids(project), "snapshots"):
            lock = FileLock(project.layout.lock(name))
            stack.enter_context(lock.acquire(timeout_s=0, holder=holder))
        stack.enter_context(project.changing("gc --older"))
        if _board(project) != held:
            raise TaskBusy("a task was begun meanwhile", hint=_NOTHING)
        yield


def _board(project: Project) -> list[TaskId]:
    return sorted(project.tasks.ids())


def _free(project: Project, plan: Retention) -> Freed:
    store, journal = project.snapshots, freed_journal(project)
    unfinished = [each.id for each in journal.read().freeings if not each.is_done]
    before = store_size(store)
    freeing = Freeing(
        id=project.app.random_bytes(6).hex(),
        at=project.app.now(),
        older_s=plan.older_s,
        tasks=tuple(
            FreedSteps(
                each.task.id, each.task.lines, each.task.head, each.snapshots, tuple(each.patches)
            )
            for each in plan.tasks
        ),
    )

    def check(new: SnapshotStore) -> None:
        _check(project, new, plan)

    def record() -> None:
        if freeing.tasks:
            journal.begin(freeing)
            unfinished.append(freeing.id)

    if plan.dropped:
        drop(store, plan.dropped.keys(), check=check, record=record)
    else:
        record()
    freed = before - store_size(store)
    patch_bytes = delete_freed_patches(project) if unfinished else 0
    if unfinished:
        journal.end(unfinished, at=project.app.now(), freed=freed)
    steps, turns = (plan.steps, plan.turns) if plan.dropped else (0, 0)
    return Freed(
        steps=steps,
        turns=turns,
        bytes=freed,
        patches=plan.patches,
        patch_bytes=patch_bytes,
    )


def _check(project: Project, new: SnapshotStore, plan: Retention) -> None:
    """Raise SnapshotDamaged unless every state that stays is whole in the new store."""
    for task_id, line in plan.lines.items():
        if not line.snapshots:
            continue
        try:
            verify_snapshots(new, task_id, freed=plan.freed)
        except SnapshotDamaged as error:
            if _is_noted_lost(project, task_id):
                continue
            raise SnapshotDamaged(
                f"nothing was freed of the snapshots: {error.message}",
                hint=f"`siding verify {task_id}` says what is lost",
            ) from error


def _is_noted_lost(project: Project, task_id: TaskId) -> bool:
    workspace = project.registry.of_task(task_id)
    return workspace is not None and workspace.lost_until > 0


def delete_freed_patches(project: Project) -> int:
    """Delete the patches that unfinished freeings name; return the bytes on disk that came back.

    The caller holds all tasks. What the rule does not let go stays, whatever the journal says.
    """
    unfinished = [each for each in freed_journal(project).read().freeings if not each.is_done]
    return sum(
        _delete_patches(project, freeing, of) for freeing in unfinished for of in freeing.tasks
    )


def _delete_patches(project: Project, freeing: Freeing, of: FreedSteps) -> int:
    task_id = next((each for each in project.tasks.ids() if each == of.task), None)
    if task_id is None or not of.patches:  # the task was deleted, with its patches
        return 0
    layout, freed = project.task_layout(task_id), 0
    for step in _allowed(project, task_id, freeing, of):
        path = layout.artifact(step.number, "patch")
        try:
            freed += path.lstat().st_blocks * BLOCK
            path.unlink()
        except FileNotFoundError:  # deleted before, or with the task
            continue
    if freed:
        flush_dir(layout.artifacts_dir)
    return freed


def _allowed(project: Project, task_id: TaskId, freeing: Freeing, of: FreedSteps) -> list[Step]:
    """Return the steps whose patches the freeing names, as far as the rule lets them go."""
    entries = list(Journal(project.task_layout(task_id).ledger_jsonl).entries())
    if not 0 < of.lines <= len(entries) or sha256_hex(entries[of.lines - 1].raw) != of.head:
        return []
    steps = list(project.ledger(task_id).steps())[: of.lines]
    may = freeable_then(steps, at=freeing.at, older_s=freeing.older_s)
    return [step for each in may.values() for step in each if step.id in of.patches]
