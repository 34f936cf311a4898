"""Find and adopt projects whose repository or home was moved (`siding doctor`)."""

from siding.ground.errors import SidingError
from siding.ground.git.discovery import RepositoryPaths, find_repository
from siding.ground.namedtuples import NamedTuple
from siding.record.place.adoption import adopt, adopt_named, holding_projects, put_aside
from siding.record.place.lost_projects import all_places, best_orphan
from siding.record.place.new_project import is_empty
from siding.record.place.project import Project, ensure_project, find_project, require_project
from siding.record.place.project_of_repository import look
from siding.record.place.project_places import ProjectPlace, Relation, repository_id
from siding.record.place.wiring import App
from siding.record.place.workspace_links import mend_links
from siding.record.tasks.store import TaskStore


class Older(NamedTuple):
    """Another project of this repository, made before the repository was moved."""

    name: str
    root: str
    tasks: int


def find_or_adopt(
    app: App, *, adopt: bool, named: str | None = None
) -> tuple[Project, list[str], Older | None]:
    """Return the repository's project, notes on what was done, and an older project if there is
    one.

    `named` is the project that the repository gets. With `adopt` False nothing is changed. Raises
    NotInitialised if the repository has no project.
    """
    paths = find_repository(app.cwd)
    if not adopt:
        seen = look(app, paths)
        if seen.how is Relation.MOVED and seen.place is not None:
            raise SidingError(
                f"this repository was at {seen.place.root!r} when Siding last saw it",
                hint="`siding doctor` without --check, as any other command, takes its project "
                "along",
            )
        project = require_project(app)
        return project, [], _older(app, project, paths)
    notes = []
    if named is not None:
        with holding_projects(app, "doctor"):
            adopt_named(app, named, _place_here(app, paths), paths)
        notes.append(f"{named} is the project of this repository now")
    else:
        notes += _take_back(app, paths)
    project = ensure_project(app)[0] if find_project(app) else require_project(app)
    notes += others_of_this_path(app, project)
    if project.other_home is None:
        notes += mend_links(project.registry, project.layout, project.repository, project.changing)
    return project, notes, _older(app, project, paths)


def _place_here(app: App, paths: RepositoryPaths) -> ProjectPlace | None:
    seen = look(app, paths)
    return seen.place if seen.how is Relation.HERE else None


def _take_back(app: App, paths: RepositoryPaths) -> list[str]:
    """Adopt the project from before the move if the present one is empty; return notes."""
    here = _place_here(app, paths)
    if here is None or not is_empty(here):
        return []
    with holding_projects(app, "doctor"):
        older = _orphan_here(app, paths)
        if older is None or not is_empty(here):
            return []
        put_aside(app, here, older, paths)
        adopt(app, older, paths)
    return [
        f"this repository was at {older.root} before; its project came along, and the empty one "
        "that was made here is in its trash"
    ]


def _older(app: App, project: Project, paths: RepositoryPaths) -> Older | None:
    older = _orphan_here(app, paths)
    if older is None or older.layout == project.layout:
        return None
    return Older(name=older.name, root=older.root, tasks=len(TaskStore(older.layout).ids()))


def _orphan_here(app: App, paths: RepositoryPaths) -> ProjectPlace | None:
    """Return the project from before a move. Projects recorded at the present path do not count."""
    places = [each for each in all_places(app) if each.root != str(paths.root)]
    return best_orphan(places, paths, repository_id(paths))


def others_of_this_path(app: App, project: Project) -> list[str]:
    """Return a sentence for each other project of this path, with the command that adopts it."""
    return [
        f"{each.name} is a project of this path, too; `siding doctor --adopt {each.name}` goes "
        "over to it"
        for each in all_places(app)
        if each.root == str(project.paths.root) and each.layout != project.layout
    ]


__all__ = ["Older", "find_or_adopt", "others_of_this_path"]
