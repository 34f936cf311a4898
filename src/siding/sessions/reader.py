"""Read found sessions with what reads stored ones. Nothing in an agent's home is written.

A transcript of Claude Code is read where it is: its form is ours. One of another client is
converted into a copy in Siding's home, which is a cache: what was added since is added to it.
"""

import atexit
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from siding.agents.table import OUR_FORM
from siding.agents.transcripts.interchange import Arrival, bring_in, edition_of
from siding.agents.transcripts.store import SessionStore
from siding.ground.errors import UsageError
from siding.ground.files.durable import remove_file
from siding.ground.namedtuples import NamedTuple
from siding.record.place.redaction import Redaction
from siding.record.place.wiring import App
from siding.sessions.lookup import FoundSession, Scope, find_session, without_secrets
from siding.sessions.shelf import SessionPlace, Shelf


class ReadableSession(NamedTuple):
    """A session, where it is read, and the id it has there."""

    found: FoundSession
    place: SessionPlace
    id: str


def readable(app: App, scope: Scope, named: str | None) -> ReadableSession:
    """Return the session that was named, ready to be read; see `find_session`."""
    return readable_of(app, scope, find_session(app, scope, named))


def readable_of(app: App, scope: Scope, found: FoundSession) -> ReadableSession:
    """Return a session of a list, ready to be read."""
    if found.is_stored:
        assert scope.project is not None
        return ReadableSession(found=found, place=scope.project, id=found.id)
    store, session = _store_with(app, found)
    return ReadableSession(found=found, place=_shelf(app, scope, store), id=session)


def shelf_of(app: App, scope: Scope) -> SessionPlace:
    """Return what masks secrets, as the project's settings say, if there is a project."""
    return scope.project or _shelf(app, scope, SessionStore(app.home.session_caches_dir / "copies"))


def masked(app: App, scope: Scope, rows: list[FoundSession]) -> list[FoundSession]:
    """Return the rows of a list with their secrets masked."""
    return without_secrets(shelf_of(app, scope), rows)


def _shelf(app: App, scope: Scope, store: SessionStore) -> Shelf:
    redaction = Redaction(app.env) if scope.project is None else scope.project.redaction
    return Shelf(app=app, store=store, redaction=redaction)


def _store_with(app: App, found: FoundSession) -> tuple[SessionStore, str]:
    caches = app.home.session_caches_dir
    if found.client == OUR_FORM:
        there = SessionStore(found.path.parent, caches=caches / "indexes")
        return there, found.path.stem
    copies = SessionStore(caches / "copies" / found.client)
    try:
        return copies, _copied(copies, found)
    except OSError:  # the home is full or cannot be written: the copy is gone when we end
        elsewhere = tempfile.TemporaryDirectory(prefix="siding-session-")
        atexit.register(elsewhere.cleanup)
        copies = SessionStore(Path(elsewhere.name))
        return copies, _copied(copies, found)


def _copied(copies: SessionStore, found: FoundSession) -> str:
    """Convert the transcript, or what was added to it; return the session's id in the copy."""
    copy = copies.layout(found.id).transcript
    source = found.source
    assert source is not None
    made_at = source.mtime_ns + edition_of(found.client)
    with suppress(OSError):
        if copy.stat().st_mtime_ns == made_at:
            return found.id
    try:
        arrived = _brought_in(copies, found)
    except UsageError:  # it was written anew: it does not begin as the copy does
        remove_file(copy)
        arrived = _brought_in(copies, found)
    if not arrived.missing:  # else it is looked for each time: what is not there may come back
        with suppress(OSError):
            os.utime(copies.layout(arrived.session_id).transcript, ns=(made_at, made_at))
    return arrived.session_id


def _brought_in(copies: SessionStore, found: FoundSession) -> Arrival:
    path = Path(found.path)
    return bring_in(copies, path, form=found.client, session_id=found.id, cwd=found.cwd)
