"""End runs that live, and what runs that have ended left running.

The host of a run that lives ends everything that it started, and records it.
"""

import signal
import time
from collections.abc import Sequence

from siding.ground.errors import SidingError, UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.control.client import Connection, HostGone, Refused
from siding.ground.process.ender import LeftTree, end_all
from siding.ground.process.identity import signal_process
from siding.ground.process.tree import TERM_GRACE_S
from siding.record.ledger.step import Step
from siding.record.place.busy import refuse_inside
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.recording.opening import open_anywhere
from siding.record.runs.left import LeftFiles, LeftRunning
from siding.record.runs.records import has_host
from siding.record.runs.run import Run
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task
from siding.record.unfinished.left_running import LeftProcess, described, trees_in
from siding.running.named_run import runs_to_stop

# A host gives what it ends two seconds to tidy up and five to be gone; then it takes the snapshot.
_PATIENCE_S = 30.0
_LOOK_S = 0.02


class EndedLeft(NamedTuple):
    """What a run had left running, and was ended now.

    `stays` could not be ended: it is another user's, or stuck in the kernel.
    """

    task: Task
    run: LeftRunning
    ended: tuple[LeftProcess, ...]
    stays: tuple[LeftProcess, ...]


def end_left(
    project: Project, task: Task, runs: Sequence[str] | None, *, now: bool = False
) -> list[EndedLeft]:
    """End what the runs with these ids left running, or with None all runs of the task.

    Each process gets SIGTERM and two seconds to tidy up, then SIGKILL; with `now` that at once.
    What this command runs in is left alone.
    """
    found = []
    for left, tree in trees_in(project, task.id):
        if (runs is None or left.id in runs) and tree.living():
            found.append(_end_tree(project, task, left, tree, now=now))
    return found


def refuse_from_inside(project: Project, task_id: TaskId, runs: Sequence[str]) -> None:
    """Raise UsageError if this command runs in what one of the runs left running."""
    for left, tree in trees_in(project, task_id):
        if left.id in runs and tree.is_around_us():
            raise UsageError(
                f"this command runs in what {left.id} left running, which it would end",
                hint="do it in another terminal",
            )


def _end_tree(
    project: Project, task: Task, left: LeftRunning, tree: LeftTree, *, now: bool
) -> EndedLeft:
    # Named before they end: nothing says afterwards what they were.
    before = {(each.pid, each.started): each for each in described(project, left, tree.living())}
    result = end_all(tree, grace_s=0.0 if now else TERM_GRACE_S)
    stays = {(each.pid, each.started) for each in result.survivors}
    gone = [
        before.get((each.pid, each.started), LeftProcess(each.pid, each.started, each.name, 0))
        for each in result.ended
    ]
    if not stays and not tree.everyone():
        LeftFiles(project.task_layout(task.id)).remove(left.number)
    return EndedLeft(
        task,
        left,
        ended=tuple(gone),
        stays=tuple(each for key, each in before.items() if key in stays),
    )


class NotStopped(SidingError):
    """The host of a run does not end it, and must not be killed."""

    code = "not_stopped"


class Stopped(NamedTuple):
    """A run that was ended. `step` is None if it makes no step."""

    task: Task
    run: Run
    step: Step | None
    by_force: bool  # the host did not react, so it was killed, and this command recorded the run


class Ended(NamedTuple):
    """The runs that were ended, and what runs that had ended before had left running."""

    runs: list[Stopped]
    left: list[EndedLeft]


def stop(
    project: Project,
    named: str | None,
    wanted: Sequence[str],
    *,
    every: bool = False,
    now: bool = False,
) -> Ended:
    """End runs of a task, wait until they are recorded, and return them.

    `wanted` are ids or names of runs; without any, the only run that lives is ended, or each one
    with `every`. What a run started gets SIGTERM and two seconds to tidy up; with `now` it gets
    SIGKILL. Of a run that has ended, what it left running is ended in the same way. Raises NotFound
    and UsageError before any run is ended.
    """
    task, chosen, ended = runs_to_stop(project, named, wanted, every=every)
    if not every:
        refuse_from_inside(project, task.id, [left.id for left in ended])
    stopped = _end(project, task, chosen, now=now)
    # Also what a run left that was ending when it was chosen.
    ids = [*(run.id for run in chosen), *(left.id for left in ended)]
    return Ended(stopped, end_left(project, task, ids, now=now))


def stop_before(project: Project, task_id: TaskId) -> Ended:
    """End all runs of a task, and what runs left running, before an act that is not to be done
    beside them; return them.

    Raises TaskBusy if this command runs inside a run that lives.
    """
    live = Runs(project.task_layout(task_id)).live()
    refuse_inside(project, task_id, live)
    task = project.tasks.load(task_id)
    stopped = _end(project, task, live, now=False)
    return Ended(stopped, end_left(project, task, None))


def _end(project: Project, task: Task, chosen: list[Run], *, now: bool) -> list[Stopped]:
    runs = Runs(project.task_layout(task.id))
    for run in chosen:
        tell_to_end(runs, run, now=now)
    return [_await(project, task, run) for run in chosen]


def _signal(run: Run, number: int) -> None:
    signal_process(run.host.pid, run.host.started, number)


def tell_to_end(runs: Runs, run: Run, *, now: bool) -> None:
    """Have the host of a run end it.

    The control socket is asked first: a signal that comes late would hit a host that records, and
    a program has other runs. A run that began just now has no socket yet.
    """
    if not has_host(run):
        # Its keeper holds it. It ends everything, as it does for runs that do not survive.
        signal_process(run.keeper.pid, run.keeper.started, signal.SIGUSR1)
        return
    _signal(run, signal.SIGCONT)  # suspended, it does not react
    try:
        Connection(runs.socket(run), mode="stop", now=now).close()
    except (OSError, Refused, HostGone):
        if not any(each.id == run.id for each in runs.live()):
            return
        if run.in_program:
            raise NotStopped(
                f"the program that hosts run {run.id} does not answer",
                hint=f"it is process {run.host.pid}; ending that ends all its runs",
            ) from None
        _signal(run, signal.SIGTERM)
        if now:
            time.sleep(_LOOK_S)  # two signals at once are one; the second one ends it at once
            _signal(run, signal.SIGTERM)


def _await(project: Project, task: Task, run: Run) -> Stopped:
    """Wait until the run is recorded; kill a host that does not react, and record its run."""
    runs = Runs(project.task_layout(task.id))
    deadline = time.monotonic() + _PATIENCE_S
    by_force = False
    while any(each.id == run.id for each in runs.live()):
        if time.monotonic() >= deadline and not by_force:
            if run.in_program:
                raise NotStopped(
                    f"the program that hosts run {run.id} has not ended it",
                    hint=f"it is process {run.host.pid}; ending that ends all its runs",
                )
            by_force = True
            _signal(run, signal.SIGKILL)
            if not has_host(run):
                signal_process(run.keeper.pid, run.keeper.started, signal.SIGKILL)
        time.sleep(_LOOK_S)
    if runs.find(run.id) is not None:
        by_force = True
        _settle(project, task.id)
    return Stopped(task, run, step_of_run(project, task.id, run), by_force)


def _settle(project: Project, task_id: TaskId) -> None:
    what = "recording a run whose host was killed"
    with holding_task(project, task_id, what, beside_runs=True) as hold:
        open_anywhere(project, project.tasks.load(task_id), hold).settle_interrupted()


def step_of_run(project: Project, task_id: TaskId, run: Run) -> Step | None:
    """Return the step of a run that has ended; None if it made none."""
    if not run.is_recorded:
        return None
    for tail in project.ledger(task_id).growing_tails():
        for step in tail.steps:
            if step.run == run.id:
                return step
    return None
