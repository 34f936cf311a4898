"""Transcripts for other people: written out without the secrets that were said or printed."""

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from siding.app.project import Project
from siding.app.redaction import Redaction
from siding.app.session_upkeep import Form, give
from siding.storage.files import flush, fsync_dir, make_dirs, write_all

_PIECE = 1 << 20


def give_redacted(project: Project, named: str | None, form: Form, target: Path) -> list[Path]:
    """Write a session as another program's transcript, redacted; return the files.

    The transcript in our home is not changed. A line of JSON stays a line of JSON. What the
    settings say about `redaction.enabled` is about what is recorded: here it makes no difference.
    """
    redaction = project.redaction
    written = []
    with tempfile.TemporaryDirectory(prefix=".export-", dir=project.layout.root) as place:
        for path in give(project, named, form, Path(place)):
            to = target / path.relative_to(place)
            make_dirs(to.parent)
            change = {".jsonl": _lines, ".json": _document}.get(path.suffix, _bytes)
            _write(to, change(redaction, path))
            written.append(to)
    return written


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    """Make the file hold the pieces: it appears whole, and no link in its place is followed."""
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
    fsync_dir(path.parent)


def _document(redaction: Redaction, path: Path) -> Iterable[bytes]:
    return [_line(redaction, path.read_bytes())]


def _lines(redaction: Redaction, path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            yield _line(redaction, line)


def _line(redaction: Redaction, line: bytes) -> bytes:
    """Return a line redacted as the text it is: there, a name stands beside its value."""
    masked = redaction.redactor.mask(line)
    if masked == line or _is_json(masked) or not _is_json(line):
        return masked
    value = _each(json.loads(line), redaction.redactor.mask_text)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _bytes(redaction: Redaction, path: Path) -> Iterable[bytes]:
    stream = redaction.redactor.stream()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield stream.feed(piece)
    yield stream.close()


def _each(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _each(value[key], change) for key in value}
    if isinstance(value, list):
        return [_each(each, change) for each in value]
    return value


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
