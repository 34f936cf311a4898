"""A step in a sandbox does not see Siding's home: what it wrote there nobody would ever read."""

from siding.app.place.project import Project, ensure_project, find_project, require_project
from siding.app.place.sandbox_inside import HomeHidden, home_is_hidden
from siding.app.place.wiring import App


def project_for_people(app: App, *, make: bool) -> Project:
    """Return the project here, where a person will look for it; `make` it if it is not there.

    Raises HomeHidden in a sandbox, where a home that was made would be gone afterwards.
    """
    if home_is_hidden(app) and find_project(app) is None:
        raise HomeHidden(
            "this step runs in a sandbox that hides Siding's home, so nobody would see this",
            hint="end with the question as your output, or have the step run without --sandbox",
        )
    return ensure_project(app)[0] if make else require_project(app)
