"""The locks of a task and of the repository.

The lock of a task is held while its state is recorded or changed, never while a command of a run
works in it. An act that would change the workspace under a run that lives pauses it, or is refused,
or waits.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from siding.ground.files.durable import make_dirs
from siding.ground.ids import TaskId
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.ledger.intents import Intents
from siding.record.place.project import Project
from siding.record.runs.file_names import PAUSED
from siding.record.runs.store import Runs

RECORDS_TURN = "recording a turn"  # how the note of whoever does begins


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
    runs_rest: bool = False,
) -> Iterator[Hold]:
    """Hold the task's lock. If it is taken, wait with `wait`, else raise TaskBusy; but for a turn
    that is being recorded whoever comes waits a moment.

    The same happens if a run lives in the task, unless the act works `beside_runs`. Such an act
    always waits for the lock, because nobody holds it for long. An act that `pauses_runs` may hold
    the lock beside them as well, but not from inside one; with `wait` it waits until they end, if
    they are not known to be at rest (`runs_rest`).

    A `wait` of None means that the command has no option ``--wait`` to suggest. A command that the
    holder or a run itself started gets TaskBusy even with `wait`, because it would wait for ever.
    The kernel frees the lock when its holder dies, so a stale lock never has to be broken.
    """
    project.require_own_home()
    layout = project.task_layout(task_id)
    path = layout.lock
    make_dirs(path.parent)
    lock = FileLock(path)
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=project.redaction.text(what))
    try:
        lock.acquire(timeout_s=0, holder=holder)
    except LockBusy as busy:
        from siding.record.place.busy import (
            busy_with_command,
            busy_with_us,
            describe,
            taken_soon,
            waits_for_us,
        )

        if waits_for_us(busy.holder):
            raise busy_with_us(project, task_id) from None
        is_turn = busy.holder is not None and busy.holder.what.startswith(RECORDS_TURN)
        if wait or beside_runs:
            lock.acquire(timeout_s=None, holder=holder)
        elif not (is_turn and taken_soon(lock, holder)):
            raise busy_with_command(
                task_id, describe(busy.holder), can_wait=wait is not None
            ) from None
    intents = Intents(layout)
    try:
        _let_go_on(layout)
        if pauses_runs and (runs_rest or not wait):
            if live := Runs(layout).live():
                from siding.record.place.busy import refuse_inside

                refuse_inside(project, task_id, live)
        elif not beside_runs:
            _without_runs(project, task_id, lock, holder, wait=wait)
        yield Hold(lock, holder, intents)
    finally:
        intents.release()
        lock.release()


def _let_go_on(layout: TaskLayout) -> None:
    """Let processes go on that were left paused, because the act that paused them was killed."""
    if os.path.lexists(layout.runs_dir / PAUSED):
        from siding.record.runs.paused import let_what_was_left_go_on

        if layout.sandbox_lock.exists():
            from siding.record.quarantine.living import follow

            with suppress(OSError):  # what stays as it was is said when it is taken over
                follow(layout.sandbox_dir)
        let_what_was_left_go_on(layout)


def _without_runs(
    project: Project, task_id: TaskId, lock: FileLock, holder: Holder, *, wait: bool | None
) -> None:
    """Return when no run lives in the task and the lock, which is held now, is held again.

    Raises TaskBusy if a run lives and `wait` is not set, or if the caller runs inside it.
    """
    runs = Runs(project.task_layout(task_id))
    while live := runs.live():
        from siding.record.place.busy import busy_with_runs, refuse_inside
        from siding.record.runs.live_run import RunRecords

        refuse_inside(project, task_id, live)
        if not wait:
            raise busy_with_runs(task_id, live, can_wait=wait is not None)
        lock.release()
        for run in live:
            RunRecords(project.task_layout(task_id)).wait(run)
        lock.acquire(timeout_s=None, holder=holder)


@contextmanager
def holding_git(project: Project, what: str) -> Iterator[None]:
    """Hold the repository's lock, because concurrent `git worktree` commands disturb each other."""
    project.require_own_home()
    make_dirs(project.layout.locks_dir)
    lock = FileLock(project.layout.lock("git"))
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
