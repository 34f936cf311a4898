"""The locks of a task and of the repository.

The lock of a task is held while its state is recorded or changed, never while a command of a run
works in it. An act that would change the workspace under a run that lives pauses it, or is refused,
or waits."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.ids import TaskId
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.ledger.intents import Intents
from siding.record.place.project import Project
from siding.record.runs.paused import PausedFile
from siding.record.runs.run import Run
from siding.record.runs.store import Runs

_NAMED = 3


class TaskBusy(SidingError):
    """Another command holds the lock of this task, or a run lives in it."""

    code = "task_busy"


class Hold:
    """The lock of a task, which is held, and the acts that began under it."""

    def __init__(self, lock: FileLock, holder: Holder, intents: Intents) -> None:
        self._lock = lock
        self._holder = holder
        self.intents = intents

    @property
    def fd(self) -> int:
        """The lock's file descriptor. A child that inherits it keeps the task locked if we die."""
        return self._lock.fd

    @contextmanager
    def let_go(self) -> Iterator[None]:
        """Release the lock for the length of a block, then wait until it can be taken again.

        Acts that have begun stay protected, because each one has a lock of its own.
        """
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire(timeout_s=None, holder=self._holder)


@contextmanager
def holding_task(
    project: Project,
    task_id: TaskId,
    what: str,
    *,
    wait: bool | None = None,
    beside_runs: bool = False,
    pauses_runs: bool = False,
) -> Iterator[Hold]:
    """Hold the task's lock. If it is taken, wait with `wait`, else raise TaskBusy.

    The same happens if a run lives in the task, unless the act works `beside_runs`. Such an act
    always waits for the lock, because nobody holds it for long. An act that `pauses_runs` may hold
    the lock beside them as well, but not from inside one; with `wait` it waits until they end.

    A `wait` of None means that the command has no option ``--wait`` to suggest. A command that the
    holder or a run itself started gets TaskBusy even with `wait`, because it would wait for ever.
    The kernel frees the lock when its holder dies, so a stale lock never has to be broken.
    """
    project.require_own_home()
    layout = project.task_layout(task_id)
    path = layout.lock
    if not path.exists():  # else whoever made it has flushed its directory into the one above
        make_dirs(path.parent)
    lock = FileLock(path)
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=project.redaction.text(what))
    try:
        lock.acquire(timeout_s=0, holder=holder)
    except LockBusy as busy:
        if _waits_for_us(busy.holder):
            raise _busy_with_us(project, task_id) from None
        if not wait and not beside_runs:
            raise _busy(task_id, describe(busy.holder), can_wait=wait is not None) from None
        lock.acquire(timeout_s=None, holder=holder)
    intents = Intents(layout)
    try:
        _let_go_on(layout)
        if pauses_runs and not wait:
            refuse_inside(project, task_id, Runs(layout).live())
        elif not beside_runs:
            _without_runs(project, task_id, lock, holder, wait=wait)
        yield Hold(lock, holder, intents)
    finally:
        intents.release()
        lock.release()


def _let_go_on(layout: TaskLayout) -> None:
    """Let processes go on that were left paused, because the act that paused them was killed."""
    if PausedFile(layout).is_there():
        from siding.record.runs.left_paused import let_what_was_left_go_on

        if layout.sandbox_lock.exists():
            from siding.record.quarantine.living import follow

            with suppress(OSError):  # what stays as it was is said when it is taken over
                follow(layout.sandbox_dir)
        let_what_was_left_go_on(layout)


def refuse_inside(project: Project, task_id: TaskId, live: list[Run]) -> None:
    """Raise TaskBusy if this command runs inside one of these runs: it would stop itself."""
    if not live:
        return
    from siding.ground.process.command import is_marked, step_marks

    marks = step_marks(project.app.env)
    if any(is_marked(marks, run.token) or _is_above_us(run.host.pid) for run in live):
        raise _busy_with_us(project, task_id)


def _without_runs(
    project: Project, task_id: TaskId, lock: FileLock, holder: Holder, *, wait: bool | None
) -> None:
    """Return when no run lives in the task and the lock, which is held now, is held again.

    Raises TaskBusy if a run lives and `wait` is not set, or if the caller runs inside it.
    """
    runs = Runs(project.task_layout(task_id))
    while live := runs.live():
        from siding.record.runs.live_run import RunRecords

        refuse_inside(project, task_id, live)
        if not wait:
            raise _busy_with_runs(task_id, live, can_wait=wait is not None)
        lock.release()
        for run in live:
            RunRecords(project.task_layout(task_id)).wait(run)
        lock.acquire(timeout_s=None, holder=holder)


def _busy(task_id: TaskId, what: str, *, can_wait: bool) -> TaskBusy:
    wait = "--wait waits until it has ended" if can_wait else "try again when it has ended"
    return TaskBusy(f"task {task_id} is busy: {what}", hint=f"{wait}; other tasks are free")


def _busy_with_runs(task_id: TaskId, live: list[Run], *, can_wait: bool) -> TaskBusy:
    named = "; ".join(describe_run(run) for run in live[:_NAMED])
    more = f"; and {len(live) - _NAMED} more" if len(live) > _NAMED else ""
    wait = "--wait waits until they have ended" if can_wait else "try again when they have ended"
    return TaskBusy(
        f"task {task_id} is busy: {named}{more}",
        hint=f"`siding stop --all` ends what runs; {wait}; other tasks are free",
    )


def _busy_with_us(project: Project, task_id: TaskId) -> TaskBusy:
    env = project.app.env
    ours = env.get("SIDING_TASK_ID") == task_id and env.get("SIDING_RUN_ID")
    where = f"run {ours}" if ours else "a run or a hook"
    return TaskBusy(
        f"this command runs inside {where} of task {task_id}, and would change the files under it",
        hint="run it when that has ended, from another terminal; `siding checkpoint` records what "
        "is there now",
    )


def _waits_for_us(holder: Holder | None) -> bool:
    """Tell whether the holder of a task's lock is an ancestor of this process, and waits for it."""
    return holder is not None and _is_above_us(holder.pid)


def _is_above_us(pid: int) -> bool:
    from siding.ground.process.tree import ancestors  # rarely needed: only if a task is busy

    return pid in ancestors()


@contextmanager
def holding_git(project: Project, what: str) -> Iterator[None]:
    """Hold the repository's lock, because concurrent `git worktree` commands disturb each other."""
    project.require_own_home()
    make_dirs(project.layout.locks_dir)
    lock = FileLock(_git_lock(project))
    lock.acquire(
        timeout_s=None,
        holder=Holder(
            pid=project.app.pid, since=project.app.now(), what=project.redaction.text(what)
        ),
    )
    try:
        yield
    finally:
        lock.release()


def busy_with(project: Project, task_id: TaskId) -> str:
    """Return which command or run works in the task, as one phrase; "" if there is none."""
    return held_by(project, task_id) or next(map(describe_run, live_in(project, task_id)), "")


def held_by(project: Project, task_id: TaskId) -> str:
    """Return which command holds the task, as one phrase; "" if there is none."""
    lock = FileLock(project.task_layout(task_id).lock)
    return describe(lock.holder()) if lock.is_locked() else ""


def live_in(project: Project, task_id: TaskId) -> list[Run]:
    """Return the runs of a task that live, oldest first."""
    return Runs(project.task_layout(task_id)).live()


def acting_in(project: Project, task_id: TaskId) -> str:
    """Return which run lives in the task, or which other act that does not hold it, as one phrase;
    "" if there is none. Only an act that has let the task go is found while the caller holds it."""
    layout = project.task_layout(task_id)
    if live := Runs(layout).live():
        return describe_run(live[0])
    intents = Intents(layout)
    for intent in intents.all():
        if not intents.is_cut_off(intent):
            return describe(intents.holder(intent))
    return ""


def describe(holder: Holder | None) -> str:
    """Return which command holds a lock, and since when, as one phrase."""
    if holder is None:
        return "another command holds it"
    return f"`{holder.what}` by process {holder.pid} since {holder.since}"


def describe_run(run: Run) -> str:
    """Return which run it is, and since when, as one phrase."""
    return f"run {run.id} `{run.title[:200]}` by process {run.host.pid} since {run.started_at}"


def _git_lock(project: Project) -> Path:
    return project.layout.lock("git")
