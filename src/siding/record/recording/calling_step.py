"""Find the step that a command was started in. A command inside a step does not act for a person.

The environment names the step, but a program can clear it. So the ancestors of this process are
checked, too. On Linux a run is the subreaper of its command, so it is an ancestor of every process
that the command started, in whatever session. A malicious program can still ask a service outside
the step to start this command; only a sandbox prevents that.
"""

from siding.ground.errors import SidingError
from siding.ground.git.errors import NotARepository
from siding.ground.ids import step_id
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import is_marked, step_marks
from siding.record.ledger.intents import Intent, Intents
from siding.record.place.project import Project, find_project
from siding.record.place.wiring import App


class CallingStep(NamedTuple):
    """A step in progress. Both fields are "" for a step of another project.

    `name` is the id of its run; of an act that is no run, the number that its step will probably
    get.
    """

    task_id: str
    name: str

    def __str__(self) -> str:
        return f"{self.task_id}/{self.name}" if self.task_id else "of another project"


class InsideStep(SidingError):
    """Only a person may do this, and the command runs inside a step."""

    code = "inside_step"


def calling_steps(project: Project) -> tuple[CallingStep, ...]:
    """Return the steps that this process runs in; several if one step runs inside another."""
    tokens = frozenset(step_marks(project.app.env))
    under_way = _under_way(project)
    if under_way:  # else the ancestors need not be read
        from siding.ground.process.tree import ancestors

        above = ancestors()
        under_way = [each for each in under_way if _holds(each[1], tokens, above)]
    if tokens and not under_way:
        return (CallingStep(task_id="", name=""),)
    return tuple(step for step, _intent in under_way)


def _under_way(project: Project) -> list[tuple[CallingStep, Intent]]:
    """Return the steps in progress of all tasks, with their intents."""
    found = []
    for task_id in project.ids_at_work():
        intents = Intents(project.task_layout(task_id))
        try:
            begun = intents.all()
        except SidingError:
            continue
        # The pid of an act that was cut off may belong to another process by now.
        alive = [each for each in begun if not intents.is_cut_off(each)]
        found += [(CallingStep(task_id=task_id, name=_name(each)), each) for each in alive]
    return found


def _name(intent: Intent) -> str:
    run = intent.run
    return run or step_id(intent.number)


def refuse_inside_step(project: Project, what: str, *, hint: str) -> None:
    """Raise InsideStep if the caller runs in a step; `what` says why that is not permitted."""
    if calling_steps(project):
        raise InsideStep(f"this command runs inside a task's step, and {what}", hint=hint)


def refuse_inside_any_step(app: App, what: str, *, hint: str) -> None:
    """Raise InsideStep as above, also where there is no project or no repository."""
    try:
        project = find_project(app)
    except NotARepository:
        project = None
    if project is not None:
        refuse_inside_step(project, what, hint=hint)
    elif step_marks(app.env):
        raise InsideStep(f"this command runs inside a task's step, and {what}", hint=hint)


def _holds(intent: Intent, tokens: frozenset[str], above: frozenset[int]) -> bool:
    return is_marked(tokens, intent.token) or intent.pid in above
