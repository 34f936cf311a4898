"""The runs of all projects: of those that live, what they print as well."""

from siding.feed.places import places_of
from siding.feed.running import LeftRow, RunningRow, left_running, running
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.projects import known_projects
from siding.record.place.wiring import App


class FoundRun(NamedTuple):
    """A run that lives or left something running, and the name of its project."""

    project: str
    row: RunningRow | LeftRow


def all_running(app: App) -> tuple[list[FoundRun], list[str]]:
    """Return the runs of all projects, oldest first, and sentences about what cannot be read."""
    found = list(known_projects(app))
    problems = [each.problem for each in found if each.project is None]
    runs: list[FoundRun] = []
    for place in places_of(app, [each.project for each in found if each.project is not None]):
        try:
            runs += [FoundRun(place.name, row) for row in running(place.project)]
            runs += [FoundRun(place.name, row) for row in left_running(place.project)]
        except SidingError as error:
            problems.append(f"project {place.project.layout.root.name}: {error.message}")
    return sorted(runs, key=lambda each: each.row.started_at), problems
