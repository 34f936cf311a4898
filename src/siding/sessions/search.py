"""Search the sessions of a list: those of the project, and those in the homes of agents."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from siding.agents.transcripts.homes import FoundTranscript, found
from siding.agents.transcripts.search import Hit, SearchedFile, search_all, search_files
from siding.ground.errors import NotFound
from siding.ground.namedtuples import NamedTuple
from siding.record.place.wiring import App
from siding.sessions.lookup import (
    FoundSession,
    Scope,
    SessionFilter,
    find_session,
    person_home,
    sessions,
)
from siding.sessions.masking import mask_text
from siding.sessions.reader import readable_of, shelf_of
from siding.sessions.shelf import store_of


class SearchResult(NamedTuple):
    """What was found, and for each session's id the name that a list gives it."""

    hits: list[Hit]
    names: dict[str, str]


def search(
    app: App,
    scope: Scope,
    words: str,
    wanted: SessionFilter,
    *,
    limit: int,
    session: str | None = None,
    redacted: bool = False,
) -> SearchResult:
    """Return at most `limit` messages in which the words occur, the best match first.

    Those in the project's own home come first. With `redacted` secrets in the excerpts are masked.
    """
    listing = sessions(app, scope, wanted._replace(hidden=True))
    rows = listing.rows
    if session is not None:
        rows = [find_session(app, scope, session)]
    if not rows:
        raise NotFound(
            "there is no session of this project yet",
            hint="`siding session search --all` searches those of every project",
        )
    mask = partial(mask_text, shelf_of(app, scope)) if redacted else None
    hits: list[Hit] = []
    stored = [row.id for row in rows if row.is_stored]
    if stored and scope.project is not None:
        store = store_of(scope.project)
        layouts = [store.layout(each) for each in sorted(stored)]
        only = stored[0] if session is not None else None
        known = search_all(store.root, layouts, words, limit=limit, session=only, mask=mask)
        hits = [hit for hit in known if hit.session_id in set(stored)]
    outside = [row for row in rows if not row.is_stored]
    if outside and len(hits) < limit:
        whole = [row for row in outside if not row.is_fork]
        files = list(_files(whole, found(app.env, person_home(app))))
        files += [_copy_of(app, scope, row) for row in outside if row.is_fork]
        there = search_files(
            app.home.session_caches_dir, files, words, limit=limit - len(hits), mask=mask
        )
        hits = [*hits, *there]
    return SearchResult(hits=hits, names=listing.names)


def _copy_of(app: App, scope: Scope, row: FoundSession) -> SearchedFile:
    """Return the copy of a forked conversation: its own file has no beginning."""
    read = readable_of(app, scope, row)
    layout = store_of(read.place).layout(read.id)
    return SearchedFile(path=layout.transcript, session_id=row.id)


def _files(
    rows: Iterable[FoundSession], transcripts: Iterable[FoundTranscript]
) -> Iterator[SearchedFile]:
    """Yield the transcripts of these sessions and of their subagents."""
    by_directory: dict[Path, FoundSession] = {}
    for row in rows:
        yield SearchedFile(path=row.path, session_id=row.id, client=row.client)
        # Claude Code names the directory as the file; Gemini CLI as the session, beside the file.
        by_directory[row.path.with_suffix("")] = row
        by_directory[row.path.parent / row.id] = row
    for each in transcripts:
        if each.is_subagent:
            parent = next((up for up in each.path.parents if up in by_directory), None)
            if parent is not None:
                row = by_directory[parent]
                yield SearchedFile(
                    path=each.path,
                    session_id=row.id,
                    agent_id=each.path.stem.removeprefix("agent-"),
                    client=row.client,
                )
