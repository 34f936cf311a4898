"""Where requests are answered: the run they come from, its task, and the places of its project."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from siding.ground.errors import NotFound, SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import TOKEN_VARIABLE
from siding.ground.storage.layout import TaskLayout
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import App
from siding.record.runs.run import Run
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task

# A broker serves one run; what its agent reported is changed by one at a time.
REPORTING = Lock()


class PeerGone(Exception):
    """Who asked has hung up. What was asked goes on without them."""


class RunOver(SidingError):
    """The run has ended, and its broker with it."""

    code = "run_over"


class Desk(NamedTuple):
    """What a request is answered with. Each connection has a desk of its own.

    The environment of `app` is that of a process of the run: whatever the broker does counts as
    done inside the run, and what only a person may do is refused.
    """

    app: App
    project: Project
    task: Task
    run: Run
    workspace: Path
    idle: Callable[[float], None]  # sleep so many seconds; raises PeerGone and RunOver
    say: Callable[[str], None]  # a line on the standard error of `siding run`, if it has one

    @property
    def layout(self) -> TaskLayout:
        return self.project.task_layout(self.task.id)


def _unheard(_line: str) -> None:
    """Say a line where nobody reads it."""


class DeskOfRun(NamedTuple):
    """The run that a broker serves, and how its desks are made."""

    app: App
    task_id: TaskId
    run: Run
    workspace: Path
    say: Callable[[str], None]

    @classmethod
    def of(
        cls, app: App, task_id: str, run_id: str, say: Callable[[str], None] = _unheard
    ) -> "DeskOfRun":
        """Return that of a run that lives. Raises NotFound."""
        project = require_project(app)
        task = project.tasks.load(TaskId(task_id))
        run = Runs(project.task_layout(task.id)).find(run_id)
        workspace = project.registry.of_task(task.id)
        if run is None or workspace is None:
            raise NotFound(f"no run {run_id!r} lives in task {task.name!r}")
        env = {
            **{name: value for name, value in app.env.items() if name != "SIDING_TASK"},
            "SIDING_HOME": str(app.home.root),
            "SIDING_TASK_ID": task.id,
            "SIDING_RUN_ID": run.id,
            "SIDING_WORKSPACE": workspace.path,
            TOKEN_VARIABLE: run.token,
        }
        return cls(app._replace(env=env), task.id, run, Path(workspace.path), say)

    def open(self, idle: Callable[[float], None]) -> Desk:
        """Return a desk; its stores are of the thread that calls this."""
        project = require_project(self.app)
        task = project.tasks.load(self.task_id)
        return Desk(self.app, project, task, self.run, self.workspace, idle, self.say)
