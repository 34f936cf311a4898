"""The newest recorded state of a task, for what does not look at a workspace in which runs live."""

from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.runs.store import Runs
from siding.record.snapshots.coverage import Coverage
from siding.record.snapshots.git_details import GitDetails, details_of
from siding.record.snapshots.git_state import recorded_state
from siding.record.tasks.registry import Workspace


class LastState(NamedTuple):
    """A state of the workspace that is recorded: `name` says which one.

    `runs` are sentences' beginnings about the runs that live, and may have changed the files since.
    """

    name: str
    snapshot: Sha
    coverage: Coverage
    head: Sha | None
    details: GitDetails
    runs: tuple[str, ...]

    @property
    def sentence(self) -> str:
        live = "lives" if len(self.runs) == 1 else "live"
        return (
            f"taken as in {self.name}, because {', '.join(self.runs)} {live}: --now records the "
            "workspace as it is, and takes that"
        )


def last_state(project: Project, workspace: Workspace) -> LastState:
    """Return the state after the newest step, or the base."""
    store, task_id = project.snapshots, workspace.task_id
    last = project.ledger(task_id).last()
    name, snapshot, coverage = "the base", workspace.base_snapshot, Coverage()
    if last is not None and last.snapshot and last.number > workspace.lost_until:
        name, snapshot = f"step {last.id}", Sha(last.snapshot)
        coverage = last.coverage or Coverage()
    state = recorded_state(store, task_id, workspace.branch, snapshot)
    live = Runs(project.task_layout(task_id)).live()
    return LastState(
        name=name,
        snapshot=snapshot,
        coverage=coverage,
        head=state.head,
        details=details_of(store, state),
        runs=tuple(f"{run.id} `{run.title[:60]}`" for run in live),
    )
