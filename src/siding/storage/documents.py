"""Documents: one JSON object in a file, replaced as a whole.

A writer that read first holds the lock of whatever the document describes, from before the read;
documents have no lock of their own. A reader takes none: it sees the old or the new, never half.
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

# A parsed object takes up to some twenty times its bytes: this keeps a hostile one in bounds.
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

    `what` names it in messages ("task", "state"). Raises FileNotFoundError, `NotARegularFile`,
    `DamagedFile` (also when a `required` key is missing) and `NewerVersion`.
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
    """Return what `read_document` does, or None when there is no such file."""
    try:
        return read_document(
            path, what=what, version=version, migrations=migrations, required=required
        )
    except FileNotFoundError:
        return None


def write_document(path: Path, data: Mapping[str, Any]) -> None:
    """Replace the document; returns after it would survive a power cut. Adds nothing to `data`."""
    raw = encode_document(data)
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise NotStorable(f"{str(path)!r} would be larger than {MAX_DOCUMENT_BYTES} bytes")
    replace_bytes(path, raw)


def migrate_document(
    path: Path, *, what: str, version: int, migrations: Mapping[int, Migration]
) -> Path | None:
    """Bring the file itself to `version` and return the copy of the old one; None: nothing to do.

    For writing commands, before their first write, under the lock they write under. Cut off
    anywhere, the same call does what is left to do.
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
