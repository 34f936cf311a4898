"""The projects of the home as people call them, and as commands name them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from shlex import quote

from siding.ground.git.discovery import find_repository
from siding.ground.git.errors import NotARepository
from siding.ground.namedtuples import NamedTuple
from siding.record.place.lost_projects import all_places
from siding.record.place.project import Project
from siding.record.place.wiring import App


class Place(NamedTuple):
    """A project, its name here, and the option that a command needs to be about it."""

    project: Project
    name: str  # without the hash, if no other project has the same one
    option: str

    def command(self, words: str) -> str:
        """Return a command of Siding as it works from where the caller stands."""
        return words.replace("siding", f"siding{self.option}", 1)


def places_of(app: App, projects: Iterable[Project]) -> Iterator[Place]:
    """Yield the places of these projects, in their order."""
    found = list(projects)
    here = _here(app, found)
    names = short_names(app)
    for project in found:
        full = project.layout.root.name
        option = "" if project is here else f" --project {quote(names.get(full, full))}"
        yield Place(project, names.get(full, full), option)


def short_names(app: App) -> dict[str, str]:
    """Return how people call each project of the home, by the name of its directory.

    A project that cannot be opened makes a name ambiguous for `--project`, too.
    """
    names = [place.name for place in all_places(app)]
    short = Counter(_short(name) for name in names)
    return {name: name if short[_short(name)] > 1 else _short(name) for name in names}


def _short(name: str) -> str:
    return name.rpartition("-")[0]


def _here(app: App, projects: list[Project]) -> Project | None:
    try:
        root = find_repository(app.cwd).common_dir
    except (NotARepository, OSError):
        return None
    return next((each for each in projects if each.paths.common_dir == root), None)
