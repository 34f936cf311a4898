"""Find the project of a repository by its path and its id."""

from collections.abc import Iterator
from pathlib import Path

from siding.ground.git.discovery import RepositoryPaths
from siding.ground.storage.layout import ProjectLayout, project_dir_name
from siding.record.place.project_places import (
    HASH_WIDTHS,
    ProjectPlace,
    Relation,
    Seen,
    place_of,
    repository_id,
)
from siding.record.place.wiring import App, home_is_hidden


def look(app: App, paths: RepositoryPaths) -> Seen:
    """Find the project of a repository; change nothing."""
    known = repository_id(paths)
    try:
        at_path = _at_path(app, paths, known)
    except PermissionError:
        if home_is_hidden(app):  # Landlock: it is there, and closed
            return Seen(Relation.NONE)
        raise
    if at_path is not None and (known is None or at_path.id == known):
        return Seen(Relation.HERE, at_path)
    from siding.record.place.lost_projects import search

    return search(app, paths, known, at_path)


def _at_path(app: App, paths: RepositoryPaths, known: str | None) -> ProjectPlace | None:
    """Return the project of this path, unless its id is that of another repository."""
    for layout in candidates(app, paths.root):
        place = place_of(layout)
        if place is None:
            if not layout.config_yaml.exists():
                return None
            # An old home stores no path, so the hash in the directory's name has to be enough.
            return ProjectPlace(layout, {})
        if place.root != str(paths.root):
            continue
        if place.id == known or (place.id is None and known is not None):
            return place
        if known is None:
            from siding.record.place.lost_projects import is_of

            if is_of(place, paths):
                return place
    return None


def candidates(app: App, root: Path) -> Iterator[ProjectLayout]:
    """Yield the possible directories of a project: if a hash collides, a longer one is used."""
    for width in HASH_WIDTHS:
        yield ProjectLayout(app.home.projects_dir / project_dir_name(root, width))
