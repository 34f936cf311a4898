"""Find the runs that live and that a command is about."""

from collections.abc import Sequence
from itertools import islice

from siding.ground.errors import NotFound, UsageError
from siding.ground.ids import TaskId
from siding.ground.process.command import StreamPlan
from siding.record.place.project import Project
from siding.record.place.selection import current_task_id, select
from siding.record.runs.left import LeftRunning
from siding.record.runs.run import Run, is_run_id
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task
from siding.record.unfinished.left_running import StillThere, left_in

__all__ = [
    "Task",
    "left_words",
    "live_runs",
    "runs_to_stop",
    "task_of_named",
    "what_was_left",
]


_ALL = "`siding runs` shows all runs"
_LOOKED_AT = 200  # steps among which the run that has ended is looked for
_AT_ONCE_MS = 2_000


def task_of_named(
    project: Project, named: str | None, wanted: Sequence[str], *, ended: bool = False
) -> str | None:
    """Return the task that is meant: the one that is `named`, else one in which runs of these names
    live; with `ended`, one in whose newest steps they are if they live in none. None is the current
    task, which counts first.

    Ids (``r7``) and numbers are of the current task. Raises UsageError if several tasks have such
    runs.
    """
    if named is not None or not wanted:
        return named
    if any(is_run_id(each) or each.isdigit() or each == "last" for each in wanted):
        return None
    here = current_task_id(project)
    if here is not None and _has_all(project, here, wanted):
        return None
    found = [each for each in project.tasks.ids() if _has_all(project, each, wanted)]
    lives = "such a run lives"
    if ended and not found:
        if here is not None and _had_all(project, here, wanted):
            return None
        found = [each for each in project.tasks.ids() if _had_all(project, each, wanted)]
        lives = "such a run was"
    if len(found) > 1:
        names = ", ".join(f"{project.tasks.load(each).name!r} ({each})" for each in found)
        raise UsageError(
            f"{' and '.join(map(repr, wanted))}: in several tasks {lives}: {names}",
            hint="-t TASK names the one that is meant",
        )
    return found[0] if found else None


def _has_all(project: Project, task_id: TaskId, wanted: Sequence[str]) -> bool:
    live = {run.name for run in Runs(project.task_layout(task_id)).live()}
    return live.issuperset(wanted)


def _had_all(project: Project, task_id: TaskId, wanted: Sequence[str]) -> bool:
    newest = islice(project.ledger(task_id).newest_first(), _LOOKED_AT)
    return {step.run_name for step in newest}.issuperset(wanted)


def live_runs(
    project: Project, named: str | None, wanted: Sequence[str], *, every: bool = False
) -> tuple[Task, list[Run]]:
    """Return a task and those of its runs that live and that `wanted` names, by id or name.

    Without a name, that is the only run that lives, or all of them with `every`. A name may be that
    of a run of another task (see `task_of_named`). Raises NotFound and UsageError.
    """
    task = select(project, task_of_named(project, named, wanted))
    live = Runs(project.task_layout(task.id)).live()
    if every:
        return task, live
    if not wanted:
        _expect_one(project, task, live)
        return task, live
    return task, [_named(project, task, live, each) for each in wanted]


def runs_to_stop(
    project: Project, named: str | None, wanted: Sequence[str], *, every: bool = False
) -> tuple[Task, list[Run], list[LeftRunning]]:
    """Return a task, runs of it that live, and runs that have ended and left something running.

    They are chosen as in `live_runs`.
    """
    task = select(project, task_of_named(project, named, wanted))
    live = Runs(project.task_layout(task.id)).live()
    left = left_in(project, task.id)
    if every:
        return task, live, [each.run for each in left]
    if not wanted:
        if live or not left:
            _expect_one(project, task, live)
            return task, live, []
        if len(left) > 1:
            raise _several(task, [_shown_left(each) for each in left])
        return task, [], [left[0].run]
    chosen: list[Run] = []
    ended: list[LeftRunning] = []
    for each in wanted:
        found = None if any(each in (run.id, run.name) for run in live) else _newest(left, each)
        if found is None:
            chosen.append(_named(project, task, live, each))
        else:
            ended.append(found.run)
    return task, chosen, ended


def what_was_left(project: Project, task: Task, run_id: str) -> StillThere | None:
    """Return what a run that has ended left running; None if nothing of it lives."""
    return next((each for each in left_in(project, task.id) if each.run.id == run_id), None)


def left_words(left: StillThere) -> str:
    """Return what a run left running, as one phrase."""
    return ", ".join(each.named for each in left.processes)


def _expect_one(project: Project, task: Task, live: list[Run]) -> None:
    if not live:
        left = left_in(project, task.id)
        hint = "; ".join(map(_has_ended, left)) or _ended_last(project, task, "") or _ALL
        raise NotFound(f"nothing runs in task {task.name!r}", hint=hint)
    if len(live) > 1:
        raise _several(task, [_shown(run) for run in live])


def _named(project: Project, task: Task, live: list[Run], wanted: str) -> Run:
    run = next((run for run in live if wanted in (run.id, run.name)), None)
    if run is not None:
        return run
    ended = _newest(left_in(project, task.id), wanted)
    alive = ", ".join(map(_shown, live))
    gone = _ended_last(project, task, wanted)
    hint = gone or (f"alive: {alive}" if live else _ALL)
    if not live and ended is None:
        raise NotFound(f"nothing runs in task {task.name!r}", hint=hint)
    raise NotFound(
        f"no run {wanted!r} lives in task {task.name!r}",
        hint=hint if ended is None else _has_ended(ended),
    )


def _newest(left: list[StillThere], wanted: str) -> StillThere | None:
    return next((each for each in left[::-1] if wanted in (each.run.id, each.run.name)), None)


def _has_ended(left: StillThere) -> str:
    return (
        f"{left.run.id} has ended and left running: {left_words(left)}; "
        f"`siding stop {left.run.id}` ends it"
    )


def _ended_last(project: Project, task: Task, wanted: str) -> str:
    """Return how the newest run of an id or a name ended, of any with ""; "" if there was none.

    A program that waits for what is typed ends at once where it can read nothing.
    """
    newest = islice(project.ledger(task.id).newest_first(), _LOOKED_AT)
    for step in newest:
        ran = step.as_run
        if ran is None or not ran.run or wanted not in ("", ran.run, ran.name):
            continue
        after = f"{step.duration_ms / 1000:.1f} s"
        said = f"{ran.run} ended with {step.exit_code} after {after} (`siding show {ran.run}`)"
        is_piped = ran.output is not None and ran.output.streams != StreamPlan.PTY
        if is_piped and step.exit_code == 0 and step.duration_ms < _AT_ONCE_MS:
            said += (
                "; it had nothing to read: `siding run --detach --tty -- COMMAND` gives a program "
                "that talks its terminal"
            )
        return said
    return ""


def _several(task: Task, shown: list[str]) -> UsageError:
    return UsageError(
        f"{len(shown)} runs live in task {task.name!r}: {', '.join(shown)}",
        hint="name the one that is meant",
    )


def _shown(run: Run) -> str:
    return f"{run.id} `{run.title[:60]}`"


def _shown_left(left: StillThere) -> str:
    return f"{left.run.id} `{left.run.title[:60]}` (has ended)"
