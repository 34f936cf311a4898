"""Go on with a session, and store nothing of it."""

from siding.agents.transcripts.session import Session, Source, live_records
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.unstored_lines import UnstoredLines as UnstoredLines


def aside(store: SessionStore, session_id: str, *, source: Source) -> Session:
    """Go on with what a session has, and store nothing of it. Raises NotFound."""
    return Session(session_id, UnstoredLines(source), source, live_records(store, session_id))
