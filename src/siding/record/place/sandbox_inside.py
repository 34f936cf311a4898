"""Detect that this command runs inside a step, or in a sandbox, where Siding's home is hidden."""

from siding.ground.errors import SidingError
from siding.record.place.wiring import App


class HomeHidden(SidingError):
    """The command runs in a sandbox that hides the project."""

    code = "home_hidden"


def is_in_step(app: App) -> bool:
    """Return whether the environment says that this command runs inside a step."""
    from siding.ground.process.command import step_marks

    return bool(step_marks(app.env))


def home_is_hidden(app: App) -> bool:
    """Return whether this is a sandbox, so that a project may exist that cannot be found here."""
    return bool(app.env.get("SIDING_SANDBOX"))


def home_hidden() -> HomeHidden:
    """Return the error for a command that needs the project."""
    return HomeHidden(
        "this step runs in a sandbox that hides Siding's home, so its records cannot be seen here",
        hint="run this outside, or have the step run without --sandbox",
    )
