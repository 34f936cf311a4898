"""What works in a task, as a phrase, and the refusals of commands that would disturb it.

Loaded where a task is busy, or somebody asks.
"""

from siding.ground.ids import TaskId
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.ledger.intents import Intents
from siding.record.place.project import Project
from siding.record.runs.run import Run
from siding.record.runs.store import Runs
from siding.record.tasks.task import TaskBusy

__all__ = [
    "TaskBusy",
    "acting_in",
    "busy_with",
    "busy_with_command",
    "busy_with_runs",
    "busy_with_us",
    "describe",
    "describe_run",
    "held_by",
    "live_in",
    "refuse_inside",
    "taken_soon",
    "waits_for_us",
]

_NAMED = 3
_TURN_S = 5.0


def taken_soon(lock: FileLock, holder: Holder) -> bool:
    """Take a lock whose holder records a turn; tell whether it was taken.

    That takes a moment, and it is when people undo: they have just seen the turn end.
    """
    try:
        lock.acquire(timeout_s=_TURN_S, holder=holder)
    except LockBusy:
        return False
    return True


def refuse_inside(project: Project, task_id: TaskId, live: list[Run]) -> None:
    """Raise TaskBusy if this command runs inside one of these runs: it would stop itself."""
    if not live:
        return
    from siding.ground.process.command import is_marked, step_marks

    marks = step_marks(project.app.env)
    if any(is_marked(marks, run.token) or _is_above_us(run.host.pid) for run in live):
        raise busy_with_us(project, task_id)


def busy_with_command(task_id: TaskId, what: str, *, can_wait: bool) -> TaskBusy:
    """Return the refusal for a task that another command holds; `what` says which."""
    wait = "--wait waits until it has ended" if can_wait else "try again when it has ended"
    return TaskBusy(f"task {task_id} is busy: {what}", hint=f"{wait}; other tasks are free")


def busy_with_runs(task_id: TaskId, live: list[Run], *, can_wait: bool) -> TaskBusy:
    """Return the refusal for a task in which runs live."""
    named = "; ".join(describe_run(run) for run in live[:_NAMED])
    more = f"; and {len(live) - _NAMED} more" if len(live) > _NAMED else ""
    wait = "--wait waits until they have ended" if can_wait else "try again when they have ended"
    return TaskBusy(
        f"task {task_id} is busy: {named}{more}",
        hint=f"`siding stop --all` ends what runs; {wait}; other tasks are free",
    )


def busy_with_us(project: Project, task_id: TaskId) -> TaskBusy:
    """Return the refusal of a command that would wait for itself."""
    env = project.app.env
    ours = env.get("SIDING_TASK_ID") == task_id and env.get("SIDING_RUN_ID")
    where = f"run {ours}" if ours else "a run or a hook"
    return TaskBusy(
        f"this command runs inside {where} of task {task_id}, and would change the files under it",
        hint="run it when that has ended, from another terminal; `siding checkpoint` records what "
        "is there now",
    )


def waits_for_us(holder: Holder | None) -> bool:
    """Tell whether the holder of a task's lock is an ancestor of this process, and waits for it."""
    return holder is not None and _is_above_us(holder.pid)


def _is_above_us(pid: int) -> bool:
    from siding.ground.process.tree import ancestors  # rarely needed: only if a task is busy

    return pid in ancestors()


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
