"""A step in a sandbox does not see Siding's home: what it wrote there nobody would ever read."""

from siding.app.project import Project, ensure_project, find_project, require_project
from siding.app.wiring import App
from siding.errors import SidingError


class HomeHidden(SidingError):
    """The command runs in a sandbox, and the project is nowhere to be seen."""

    code = "home_hidden"


def project_for_people(app: App, *, make: bool) -> Project:
    """Return the project here, where a person will look for it; `make` it if it is not there.

    Raises HomeHidden in a sandbox, where a home that was made would be gone afterwards.
    """
    if app.env.get("SIDING_SANDBOX") and find_project(app) is None:
        raise HomeHidden(
            "this step runs in a sandbox that hides Siding's home, so nobody would see this",
            hint="end with the question as your output, or have the step run without --sandbox",
        )
    return ensure_project(app)[0] if make else require_project(app)
