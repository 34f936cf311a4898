"""Where conversations are read: in the home of the project, or in the home of another program."""

from typing import TypeAlias

from siding.app.place.project import Project
from siding.app.place.redaction import Redaction
from siding.app.place.wiring import App
from siding.namedtuples import NamedTuple
from siding.sessions.store import SessionStore


class Shelf(NamedTuple):
    """Sessions outside of a project. They are only read: nothing may write to `store`."""

    app: App
    store: SessionStore
    redaction: Redaction


SessionPlace: TypeAlias = Project | Shelf


def store_of(place: SessionPlace) -> SessionStore:
    """Return the sessions of a place."""
    if isinstance(place, Shelf):
        return place.store
    return SessionStore(place.layout.root / "sessions")
