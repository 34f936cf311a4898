"""Inside a sandbox Siding's home is hidden; anything that is written to it there is lost."""

from siding.app.place.project import Project, ensure_project, find_project, require_project
from siding.app.place.sandbox_inside import HomeHidden, home_is_hidden
from siding.app.place.wiring import App


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
