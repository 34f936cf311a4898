"""Where conversations are read: in the home of the project, or in the home of another program."""

from typing import TypeAlias

from siding.agents.transcripts.store import SessionStore
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.redaction import Redaction
from siding.record.place.wiring import App


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
