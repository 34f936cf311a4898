"""What a command of Siding can know when it runs inside a sandboxed step."""

from siding.app.place.wiring import App
from siding.errors import SidingError


class HomeHidden(SidingError):
    """The command runs in a sandbox, and the project is nowhere to be seen."""

    code = "home_hidden"


def home_is_hidden(app: App) -> bool:
    """Whether a project that is not found may be there, outside the sandbox of this step."""
    return bool(app.env.get("SIDING_SANDBOX"))


def home_hidden() -> HomeHidden:
    """Return the error of a command that needs the project."""
    return HomeHidden(
        "this step runs in a sandbox that hides Siding's home, so its records cannot be seen here",
        hint="run this outside, or have the step run without --sandbox",
    )
