"""Find the runs that live and that a command is about."""

from collections.abc import Sequence

from siding.app.place.project import Project
from siding.app.place.selection import select
from siding.errors import NotFound, UsageError
from siding.runs.run import Run
from siding.runs.store import Runs
from siding.tasks.task import Task


def live_runs(
    project: Project, named: str | None, wanted: Sequence[str], *, every: bool = False
) -> tuple[Task, list[Run]]:
    """Return a task and those of its runs that live and that `wanted` names, by id or name.

    Without a name, that is the only run that lives, or all of them with `every`. Raises NotFound
    and UsageError.
    """
    task = select(project, named)
    live = Runs(project.task_layout(task.id)).live()
    if every:
        return task, live
    if not live:
        raise NotFound(f"nothing runs in task {task.name!r}", hint="`siding runs` shows all runs")
    shown = ", ".join(f"{run.id} `{run.title[:60]}`" for run in live)
    if not wanted:
        if len(live) > 1:
            raise UsageError(
                f"{len(live)} runs live in task {task.name!r}: {shown}",
                hint="name the one that is meant",
            )
        return task, live
    found = []
    for each in wanted:
        run = next((run for run in live if each in (run.id, run.name)), None)
        if run is None:
            raise NotFound(f"no run {each!r} lives in task {task.name!r}", hint=f"alive: {shown}")
        found.append(run)
    return task, found
