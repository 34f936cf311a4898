"""Export transcripts without the secrets in them, for other people."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from siding.ground.files.durable import flush, flush_dir, make_dirs, write_all
from siding.record.place.redaction import Redaction
from siding.record.snapshots.room import has_room
from siding.sessions.masking import mask_line
from siding.sessions.shelf import SessionPlace, Shelf
from siding.sessions.upkeep import give

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
