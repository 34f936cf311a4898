"""Put a conversation where its client finds it, so that the client goes on with it.

One that is only here (a branch), or that was rewound or compacted here since it was imported, is
not what the client has in its home. A file of the client's is never changed: it gets a new one.
"""

import tempfile
from datetime import datetime
from pathlib import Path

from siding.agents.table import OUR_FORM
from siding.agents.transcripts.changes import is_changed_here
from siding.agents.transcripts.homes import HOME, FoundTranscript
from siding.agents.transcripts.interchange import MOST_BYTES, give_out, give_out_copy
from siding.ground.errors import NotFound
from siding.ground.files.durable import create_bytes, make_dirs
from siding.ground.files.regular import read_bytes
from siding.record.place.wiring import App
from siding.sessions.finding import FoundSession, Scope, SessionFilter, person_home, sessions
from siding.sessions.sessions import new_session_id
from siding.sessions.shelf import store_of


def is_only_here(scope: Scope, found: FoundSession) -> bool:
    """Tell whether the client does not have the conversation as it is now."""
    if not found.is_stored or scope.project is None:
        return False
    return found.source is None or is_changed_here(found.path)


def copied_to_client(app: App, scope: Scope, found: FoundSession) -> FoundSession:
    """Write a conversation that is only here into its client's home; return what is there now.

    A branch in our own form keeps its id. Any other one is a copy with a new id, of what a model
    would be sent. Raises NotFound if nobody knows where the client looks for it.
    """
    assert scope.project is not None
    store, form = store_of(scope.project), found.client
    keeps_id = form == OUR_FORM and found.source is None
    target = found.id if keeps_id else new_session_id(app)
    place = _place(app, found)
    with tempfile.TemporaryDirectory(prefix=".siding-copy-", dir=scope.project.layout.root) as made:
        beside = Path(made)
        if keeps_id:
            written = give_out(store, found.id, form, beside / "out")
        else:
            written = give_out_copy(store, found.id, target, form, beside)
        make_dirs(place)
        for path in reversed(written):  # the transcript comes last: then all of it is there
            there = place / path.relative_to(beside / "out")
            make_dirs(there.parent)
            create_bytes(there, read_bytes(path, limit=MOST_BYTES))
    source = FoundTranscript(client=form, path=there, size=0, mtime_ns=0)
    return found._replace(id=target, path=there, source=source, is_stored=False)


def _place(app: App, found: FoundSession) -> Path:
    """Return the directory in which the client looks for conversations of this one's directory."""
    home = HOME.of(found.client)
    if home is not None:
        root = home.root(app.env, person_home(app))
        now = datetime.fromisoformat(app.now())
        place = home.place(root, found.cwd, now, lambda: _beside(app, found))
        if place is not None:
            return place
    raise NotFound(
        f"nobody knows where {found.client} looks for session {found.id!r}",
        hint=f"`siding session export {found.id} --to {found.client} -o DIRECTORY` writes it "
        "(`siding session export --help`)",
    )


def _beside(app: App, found: FoundSession) -> Path | None:
    """Return where another conversation of the same directory lies."""
    everywhere = Scope(project=None, roots=None)
    others = sessions(app, everywhere, SessionFilter(client=found.client, hidden=True)).rows
    for each in others:
        if each.source is not None and each.cwd == found.cwd:
            return each.source.path.parent
    return None
