"""Find the session that a verb goes on with here, and say so if it was imported for that."""

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.record.place.project import Project
from siding.sessions.keeping import kept


def kept_session(context: Context, named: str | None) -> tuple[Project, str]:
    """Return the project and the session's id; a session that was only found is imported."""
    found = kept(context.app, named)
    if found.imported is not None:
        context.screen.note(f"imported {inert(str(found.imported))}")
    return found.project, found.id


def say_how_it_goes_on(context: Context, session: str) -> None:
    """Say how the client goes on with what was made here."""
    context.screen.note(f"  to go on: siding session open {inert(session)}")
