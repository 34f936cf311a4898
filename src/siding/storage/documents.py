"""Documents: files with one JSON object, which are always replaced as a whole.

Documents have no lock of their own. Code that reads a document in order to write it holds the lock
of the thing it describes (a task's, say) from before the read. Code that only reads takes no lock:
it sees the old or the new document, never a part of one.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from siding.errors import FileTooLarge
from siding.files.durable import replace_bytes
from siding.files.regular import read_bytes
from siding.storage.codec import NotJson, encode_document, parse_object
from siding.storage.errors import DamagedFile, NewerVersion, NotStorable
from siding.storage.versions import Migration, keep_old, migrate, version_of

__all__ = [
    "DamagedFile",
    "NewerVersion",
    "migrate_document",
    "read_document",
    "read_document_or_none",
    "write_document",
]

# A parsed object takes up to about twenty times its bytes of memory; this bounds a hostile one.
MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
NO_MIGRATIONS: Mapping[int, Migration] = MappingProxyType({})


def read_document(
    path: Path,
    *,
    what: str,
    version: int,
    migrations: Mapping[int, Migration] = NO_MIGRATIONS,
    required: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the document, migrated in memory to `version`; unknown fields are kept.

    `what` names the document in messages ("task", "state"). Raises FileNotFoundError,
    `NotARegularFile`, `DamagedFile` (also when a `required` key is missing) and `NewerVersion`.
    """
    data = _parse(path, _read(path, what), what, version)
    try:
        data = migrate(data, to=version, migrations=migrations)
    except ValueError as error:
        raise DamagedFile(path, str(error), what=what) from error
    missing = [key for key in required if key not in data]
    if missing:
        raise DamagedFile(path, f"it lacks {', '.join(map(repr, missing))}", what=what)
    return data


def read_document_or_none(
    path: Path,
    *,
    what: str,
    version: int,
    migrations: Mapping[int, Migration] = NO_MIGRATIONS,
    required: Sequence[str] = (),
) -> dict[str, Any] | None:
    """Return what `read_document` returns, or None when there is no such file."""
    try:
        return read_document(
            path, what=what, version=version, migrations=migrations, required=required
        )
    except FileNotFoundError:
        return None


def write_document(path: Path, data: Mapping[str, Any]) -> None:
    """Replace the document with `data`; when this returns, the new one survives a power cut.

    `data` must hold the `version`. Raises `NotStorable` and OSError.
    """
    raw = encode_document(data)
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise NotStorable(f"{str(path)!r} would be larger than {MAX_DOCUMENT_BYTES} bytes")
    replace_bytes(path, raw)


def migrate_document(
    path: Path, *, what: str, version: int, migrations: Mapping[int, Migration]
) -> Path | None:
    """Migrate the file itself to `version`; return the path of the backup, None if it is current.

    Commands that write call this before their first write, under the lock they write under. If a
    call is cut off, calling it again finishes the work.
    """
    raw = _read(path, what)
    data = _parse(path, raw, what, version)
    found = version_of(data)
    if found == version:
        return None
    try:
        migrated = migrate(data, to=version, migrations=migrations)
    except ValueError as error:
        raise DamagedFile(path, str(error), what=what) from error
    backup = keep_old(path, raw, found)
    write_document(path, migrated)
    return backup


def _read(path: Path, what: str) -> bytes:
    try:
        return read_bytes(path, limit=MAX_DOCUMENT_BYTES)
    except FileTooLarge as error:
        raise DamagedFile(path, f"it has more than {error.limit} bytes", what=what) from error


def _parse(path: Path, raw: bytes, what: str, supported: int) -> dict[str, Any]:
    try:
        data = parse_object(raw) if raw.strip(b"\0") else _refuse_blank(raw)
        found = version_of(data)
    except (NotJson, ValueError) as error:
        raise DamagedFile(path, str(error), what=what) from error
    _refuse_newer(path, what, found, supported)
    return data


def _refuse_newer(path: Path, what: str, found: int, supported: int) -> None:
    if found > supported:
        raise NewerVersion(path, what, found, supported)


def _refuse_blank(raw: bytes) -> dict[str, Any]:
    raise NotJson("it holds nothing but NUL bytes" if raw else "it is empty")
