"""Find a session to go on with here: one that was only found is imported first."""

from pathlib import Path

from siding.agents.transcripts.interchange import bring_in
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project, ensure_project
from siding.record.place.wiring import App
from siding.sessions.finding import FoundSession, find_session, scope_of
from siding.sessions.shelf import store_of


class KeptSession(NamedTuple):
    """A session in a project's own home. `imported` is the file that it was just read from."""

    project: Project
    id: str
    imported: Path | None


def kept(app: App, named: str | None) -> KeptSession:
    """Return the session that was named, in the home of the project of its repository.

    What its client has added since the last import is imported. Raises NotFound, UsageError.
    """
    scope = scope_of(app)
    found = find_session(app, scope, named)
    if found.is_stored:
        assert scope.project is not None
        return KeptSession(project=scope.project, id=found.id, imported=None)
    return _imported(_project_of(app, Path(found.cwd)), found)


def kept_here(app: App, named: str) -> KeptSession:
    """Return the same, in the home of the project in which we are, wherever it was held."""
    scope = scope_of(app)
    found = find_session(app, scope, named)
    if found.is_stored:
        assert scope.project is not None
        return KeptSession(project=scope.project, id=found.id, imported=None)
    return _imported(ensure_project(app)[0], found)


def _imported(project: Project, found: FoundSession) -> KeptSession:
    done = bring_in(
        store_of(project),
        found.path,
        form=found.client,
        session_id=found.id,
        cwd=found.cwd,
    )
    return KeptSession(project=project, id=done.session_id, imported=found.path)


def _project_of(app: App, cwd: Path) -> Project:
    """Return the project of the directory in which a session was held, else the one we are in."""
    if cwd.is_absolute() and cwd.is_dir() and not app.project:
        try:
            return ensure_project(app._replace(cwd=cwd))[0]
        except SidingError:
            pass
    return ensure_project(app)[0]
