"""Work on a run in the background, and tell the person that it has ended.

The process goes on when the command line has ended.
"""

from collections.abc import Callable

from siding.asking.notices import notify
from siding.asking.views import Waits
from siding.ground.errors import SidingError
from siding.ground.process.detach import Background, Begun, in_background
from siding.record.place.project import Project
from siding.workflows.acts.run import MakeAgents, Prepared, carry_out
from siding.workflows.display import summary_of, workflow_entry
from siding.workflows.events import Event
from siding.workflows.state import RunState, RunStatus
from siding.workflows.store import RunFolders

LONG_MS = 60_000  # whoever began a shorter run in a terminal still looks at it


def carry_out_detached(
    project: Project,
    prepared: Prepared,
    make_agents: MakeAgents,
    guarded: Callable[[Callable[[], int]], int],
) -> int:
    """Begin to work on a run in a process of its own; return 0, or the status of one that failed.

    Until the script runs, that process has the terminal; `guarded` says there what is wrong.
    """

    def work(background: Background) -> int:
        return guarded(lambda: carry_out_there(background))

    def carry_out_there(background: Background) -> int:
        begun = _Once(lambda: background.begin(prepared.folder.run_id))

        def listen(_event: Event, _state: RunState) -> None:
            begun()

        own = Project(project.app._replace(pid=background.pid), project.layout, project.paths)
        carry_out(own, prepared, make_agents, listen)
        tell_ended(own, prepared.folder.run_id, detached=True)
        return 0

    begun = in_background(work)
    return 0 if isinstance(begun, Begun) else begun


class _Once:
    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act
        self._is_done = False

    def __call__(self) -> None:
        if not self._is_done:
            self._is_done = True
            self._act()


def tell_ended(project: Project, run_id: str, *, detached: bool) -> None:
    """Call the person in the ways that are set. Raises nothing: the run has ended either way."""
    try:
        state = RunFolders.of(project).find(run_id).state()
        if state is None or state.status not in (RunStatus.COMPLETED, RunStatus.FAILED):
            return  # whoever killed it knows
        run = summary_of(state)
        if not detached and run.took_ms < LONG_MS:
            return
        names: dict[str, str] = {task.id: task.name for task in project.tasks.readable()}
        kind = Waits.WORKFLOW if run.has_failed else Waits.DONE
        failed = notify(project, workflow_entry(project, names.get(run.task, ""), run, kind))
    except (SidingError, OSError) as error:
        project.app.warn(f"nobody was told that the run has ended: {error}")
        return
    for hook in failed:
        project.app.warn(f"notify hook {hook.command!r} ended with {hook.exit_code}: {hook.output}")
