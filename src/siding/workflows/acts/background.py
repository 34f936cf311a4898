"""Work on a run in the background: the process goes on when the command line has ended."""

from collections.abc import Callable

from siding.ground.process.detach import Background, Begun, in_background
from siding.record.place.project import Project
from siding.workflows.acts.notifying import tell_ended
from siding.workflows.acts.running import MakeAgents, Prepared, carry_out
from siding.workflows.events import Event
from siding.workflows.state import RunState


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
