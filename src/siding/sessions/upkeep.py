"""Compact, import and export sessions."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from siding.agents.transcripts.compaction import (
    Keep,
    Making,
    by_memory,
    estimated_tokens,
    full,
    micro,
    partial,
    snip,
    snippable,
)
from siding.agents.transcripts.interchange import Arrival, bring_in, give_out
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.reading.views import active
from siding.ground.errors import UsageError
from siding.ground.files.durable import flush, flush_dir, make_dirs, write_all
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.redaction import Redaction
from siding.record.snapshots.scratch import has_room
from siding.sessions.masking import mask_line
from siding.sessions.sessions import message_named, new_session_id, select, writer_of
from siding.sessions.shelf import SessionPlace, Shelf, store_of

__all__ = [
    "Compacted",
    "Keep",
    "bring",
    "clear_results",
    "compact",
    "give",
    "leave_out",
    "read_text",
]


class Compacted(NamedTuple):
    """The result of a compaction: the estimated tokens of the active context before and after."""

    session_id: str
    before: int
    after: int


def compact(
    project: Project,
    named: str | None,
    *,
    summary: str,
    at: str | None = None,
    keep: Keep = Keep.TAIL,
    note: str = "",
    is_memory: bool = False,
) -> Compacted:
    """Replace messages by a summary.

    The messages from `at` on are kept or, with `keep` HEAD, those before it. With `is_memory` the
    summary replaces the messages up to and including `at`. Raises UsageError and NotFound.
    """
    if not summary.strip():
        raise UsageError("the summary is empty", hint="write what was said so far into it")

    def lines(chain: list[Record], making: Making) -> list[Record]:
        target = None if at is None else message_named(chain, at)
        if is_memory:
            return by_memory(chain, summary, target, making)
        if target is None:
            return full(chain, summary, making)
        return partial(chain, target, summary, making, keep=keep)

    session = select(project, named)
    with writer_of(project, session, "compacting a session") as writer:
        chain, before = _context(project, session)
        making = _making(project)._replace(pre_tokens=before, user_context=note)
        writer.append(lines(chain, making), durable=True)
        writer.repeat_metadata()
    return Compacted(session, before, _context(project, session)[1])


def clear_results(project: Project, named: str | None, *, keep_last: int) -> Compacted:
    """Replace all but the newest `keep_last` tool results by a short text."""
    session = select(project, named)
    with writer_of(project, session, "clearing old results") as writer:
        chain, before = _context(project, session)
        entry = micro(active(chain), keep_last=keep_last)
        if entry is None:
            raise UsageError("there are no more tool results than that", hint="keep fewer of them")
        writer.set(entry)
    return Compacted(session, before, before)


def leave_out(project: Project, named: str | None, first: str, last: str) -> Compacted:
    """Take the messages from `first` to `last` out of the context. They stay in the file."""
    session = select(project, named)
    with writer_of(project, session, "snipping a session") as writer:
        chain, before = _context(project, session)
        removed = snippable(active(chain), message_named(chain, first), message_named(chain, last))
        writer.append([snip(removed, _making(project))], durable=True)
    return Compacted(session, before, _context(project, session)[1])


def bring(project: Project, path: Path, *, form: str | None, session_id: str | None) -> Arrival:
    """Import a transcript, or the messages added to it since the last import."""
    return bring_in(
        store_of(project),
        path,
        form=form,
        session_id=session_id,
        cwd=_workspace_named_in(project, path),
    )


def _workspace_named_in(project: Project, path: Path) -> str:
    """Return the workspace that has the name of one of the directories above `path`, "" if none.

    An agent may keep the transcripts of a checkout in a directory with the checkout's name.
    """
    layout = project.layout
    for name in reversed(path.resolve().parts[1:-1]):
        if (layout.workspaces_dir / name).is_dir() or (layout.tasks_dir / name).is_dir():
            return str(layout.workspaces_dir / name)
    return ""


def give(place: SessionPlace, named: str | None, form: str, target: Path) -> list[Path]:
    """Write a session as another program's transcript."""
    return give_out(store_of(place), select(place, named), form, target)


def read_text(path: Path) -> str:
    """Return the content of a text file; bytes that are not UTF-8 are replaced."""
    return read_bytes(path).decode("utf-8", "replace")


def _context(project: Project, session: str) -> tuple[list[Record], int]:
    with store_of(project).live(session) as transcript:
        chain: Sequence[Record] = list(transcript.records(transcript.shown()))
    return list(chain), estimated_tokens(active(chain))


def _making(project: Project) -> Making:
    return Making(new_id=lambda: new_session_id(project.app), now=project.app.now())


_PIECE = 1 << 20


def give_redacted(place: SessionPlace, named: str | None, form: str, target: Path) -> list[Path]:
    """Write a session as another program's transcript, without secrets; return the files.

    The transcript in Siding's home is not changed. Each line of JSON stays a line of JSON. The
    setting `redaction.enabled` makes no difference here: it is about what is recorded.
    """
    redaction = place.redaction
    written = []
    # Beside the transcripts, which is not read by others; a full home needs another place.
    private = place.app.home.session_caches_dir if isinstance(place, Shelf) else place.layout.root
    beside = private if private.is_dir() and has_room(private) else None
    with tempfile.TemporaryDirectory(prefix=".siding-export-", dir=beside) as temporary:
        for path in give(place, named, form, Path(temporary)):
            to = target / path.relative_to(temporary)
            make_dirs(to.parent)
            change = {".jsonl": _lines, ".json": _document}.get(path.suffix, _bytes)
            _write(to, change(redaction, path))
            written.append(to)
    return written


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    """Write the pieces to a new file and rename it into place. A symlink at `path` is replaced, not
    followed."""
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        for piece in pieces:
            write_all(fd, piece)
        flush(fd)
    finally:
        os.close(fd)
    partial.replace(path)
    flush_dir(path.parent)


def _document(redaction: Redaction, path: Path) -> Iterable[bytes]:
    return [mask_line(redaction, path.read_bytes())]


def _lines(redaction: Redaction, path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            yield mask_line(redaction, line)


def _bytes(redaction: Redaction, path: Path) -> Iterable[bytes]:
    stream = redaction.redactor.stream()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield stream.feed(piece)
    yield stream.close()
