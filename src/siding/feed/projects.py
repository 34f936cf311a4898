"""The projects of the home, and where their repositories are."""

from enum import StrEnum
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.git.discovery import find_repository
from siding.ground.git.errors import NotARepository
from siding.ground.namedtuples import NamedTuple
from siding.record.place.lost_projects import all_places, is_gone
from siding.record.place.project_of_repository import look
from siding.record.place.project_places import ProjectPlace
from siding.record.place.wiring import App
from siding.record.tasks.store import TaskStore
from siding.record.tasks.task import TaskState


class RepositoryState(StrEnum):
    """What is at the path at which a project's repository was seen last."""

    THERE = "there"
    GONE = "gone"
    ANOTHER = "another"  # another repository


class ProjectRow(NamedTuple):
    """One project. `updated_at` is that of the task that changed last, "" without tasks."""

    name: str
    repository: str  # where it was seen last; "" in old homes
    state: str  # a RepositoryState
    open_tasks: int
    tasks: int
    updated_at: str
    here: bool  # the one of the working directory


def project_rows(app: App) -> list[ProjectRow]:
    """Return the projects, sorted by name. Changes nothing."""
    here = _here(app)
    return [_row(place, here=place.name == here) for place in all_places(app)]


def _here(app: App) -> str:
    try:
        seen = look(app, find_repository(app.cwd))
    except (NotARepository, OSError, SidingError):
        return ""
    return seen.place.name if seen.place is not None and seen.how.value in ("here", "moved") else ""


def _row(place: ProjectPlace, *, here: bool) -> ProjectRow:
    tasks = list(TaskStore(place.layout).readable())
    return ProjectRow(
        name=place.name,
        repository=place.root,
        state=_state(place).value,
        open_tasks=sum(task.status is not TaskState.CLOSED for task in tasks),
        tasks=len(tasks),
        updated_at=max((task.updated_at for task in tasks), default=""),
        here=here,
    )


def _state(place: ProjectPlace) -> RepositoryState:
    if not place.root or not Path(place.root).is_dir():
        return RepositoryState.GONE
    if not is_gone(place):
        return RepositoryState.THERE
    try:
        return (
            RepositoryState.ANOTHER
            if find_repository(Path(place.root)).root == Path(place.root)
            else RepositoryState.GONE
        )
    except (NotARepository, OSError):
        return RepositoryState.GONE
