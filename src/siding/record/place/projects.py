"""Open every project of the home, independent of the working directory; one, for people."""

import re
from collections.abc import Iterator
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.git.discovery import find_repository
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import listed_ids, read_document_or_none
from siding.ground.storage.layout import ProjectLayout
from siding.record.place.project import (
    Project,
    ensure_project,
    find_project,
    require_project,
)
from siding.record.place.project_places import (
    PROJECT_MIGRATIONS,
    PROJECT_VERSION,
)
from siding.record.place.wiring import App, HomeHidden, home_hidden, home_is_hidden

_NAME = re.compile(r".-[0-9a-f]{4,64}\Z")


class FoundProject(NamedTuple):
    """One project directory: the project, or a sentence why it cannot be opened."""

    project: Project | None
    problem: str = ""


def known_projects(app: App) -> Iterator[FoundProject]:
    """Yield the projects, sorted by directory name. A broken project does not hide the others.

    Raises HomeHidden if a sandbox hides all of them.
    """
    is_hidden = home_is_hidden(app)
    for name in _names(app):
        layout = ProjectLayout(app.home.projects_dir / name)
        try:
            document = read_document_or_none(
                layout.project_json,
                what="project",
                version=PROJECT_VERSION,
                migrations=PROJECT_MIGRATIONS,
            )
            root = document.get("repo_root") if document else None
            if not isinstance(root, str):
                continue  # not a project, or one of an old home, which stores no path
            yield FoundProject(Project(app, layout, find_repository(Path(root))))
            is_hidden = False  # a home within the sandbox
        except (SidingError, OSError) as error:
            if is_hidden and isinstance(error, PermissionError):
                continue  # Landlock: it is there, and closed
            reason = error.message if isinstance(error, SidingError) else str(error)
            yield FoundProject(None, f"project {name}: {reason}")
    if is_hidden:
        raise home_hidden()


def _may_be_project(name: str) -> bool:
    """Tell whether a name has the form of a project's: that of a directory (any), and a hash."""
    return _NAME.search(name) is not None


def _names(app: App) -> list[str]:
    try:
        return listed_ids(app.home.projects_dir, is_name=_may_be_project)
    except PermissionError:
        if home_is_hidden(app):
            return []
        raise


def project_for_people(app: App, *, make: bool) -> Project:
    """Return the project of the working directory; with `make`, make it if there is none.

    Raises HomeHidden in a sandbox, because a project that is made there would be lost.
    """
    if home_is_hidden(app) and find_project(app) is None:
        raise HomeHidden(
            "this step runs in a sandbox that hides Siding's home, so nobody would see this",
            hint="end with the question as your output, or have the step run without --sandbox",
        )
    return ensure_project(app)[0] if make else require_project(app)
