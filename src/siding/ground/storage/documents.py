"""Documents: files with one JSON object, which are always replaced as a whole.

Documents have no lock of their own. Code that reads a document in order to write it holds the lock
of the thing it describes (a task's, say) from before the read. Code that only reads takes no lock:
it sees the old or the new document, never a part of one.

Each document has a format version, one whole number, which grows when old readers would be wrong.
A document without `version` has version 1, as the task files of the oldest homes. A migration is a
pure function that turns the data of one version into that of the next; it is kept for ever. Reading
migrates in memory, so it needs neither a lock nor room on the disk. To migrate a file, `keep_old`
first stores the old bytes beside it; only then is the file replaced.

Directories whose entries have ids as names are listed here, too. Other programs leave files in
them: `.DS_Store`, `desktop.ini`, a copy in conflict. What is no id is passed over, by every command
alike; `siding doctor` names it.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from siding.ground.errors import FileTooLarge
from siding.ground.files.regular import read_bytes
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.errors import DamagedFile, NewerVersion, NotStorable

Migration = Callable[[dict[str, Any]], dict[str, Any]]
FIRST_VERSION = 1
__all__ = [
    "DamagedFile",
    "NewerVersion",
    "foreign_names",
    "is_id",
    "listed_ids",
    "migrate_document",
    "read_document",
    "read_document_or_none",
    "write_document",
]
# A parsed object takes up to about twenty times its bytes of memory; this bounds a hostile one.
MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
# Earlier versions and other tools gave ids of other forms, but never a blank or a dot.
_ID = re.compile(r"[A-Za-z0-9_-]+\Z")
NO_MIGRATIONS: Mapping[int, Migration] = MappingProxyType({})


def version_of(data: Mapping[str, Any]) -> int:
    """Return the data's version; raise ValueError, with a reason, when it is not valid."""
    version = data.get("version", FIRST_VERSION)
    if not isinstance(version, int) or isinstance(version, bool) or version < FIRST_VERSION:
        raise ValueError(f"its version is {str(version)[:40]!r}")
    return version


def migrate(
    data: dict[str, Any], *, to: int, migrations: Mapping[int, Migration]
) -> dict[str, Any]:
    """Return the data in version `to`, after each migration in order.

    `migrations` maps an old version to the function that leads to the next one. Raises ValueError,
    with a reason, for data that a migration cannot handle.
    """
    for version in range(version_of(data), to):
        step = migrations[version]
        try:
            data = step(dict(data))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"it cannot be migrated from version {version} ({type(error).__name__}: {error})"
            ) from error
        data["version"] = version + 1
    return data


def keep_old(path: Path, raw: bytes, version: int) -> Path:
    """Store the old bytes as ``<name>.v<N>.bak`` and return that path.

    If a backup with the same bytes exists, it is returned. A different one is never replaced: the
    bytes go to the next free name, ``<name>.v<N>.2.bak`` and so on.
    """
    from siding.ground.files.durable import create_bytes

    attempt = 1
    while True:
        number = "" if attempt == 1 else f".{attempt}"
        backup = path.with_name(f"{path.name}.v{version}{number}.bak")
        try:
            create_bytes(backup, raw)
        except FileExistsError:
            if read_bytes(backup) == raw:
                return backup
            attempt += 1
        else:
            return backup


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
    from siding.ground.files.durable import replace_bytes
    from siding.ground.storage.writes import encode_document

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


def is_id(name: str) -> bool:
    """Tell whether a name has the form of an id: letters, digits, ``-`` and ``_``."""
    return _ID.match(name) is not None


def listed_ids(
    directory: Path, *, suffix: str = "", is_name: Callable[[str], bool] = is_id
) -> list[str]:
    """Return the ids in a directory, in order; none if it is not there.

    Entries are files named by the id and `suffix`. Without a suffix they are directories.
    """
    return sorted(_found(directory, suffix, is_name))


def foreign_names(
    directory: Path, *, suffix: str = "", is_name: Callable[[str], bool] = is_id
) -> list[str]:
    """Return the names of entries in a directory that `listed_ids` passes over, in order."""
    try:
        names = set(os.listdir(directory))
    except OSError:
        return []
    return sorted(names - {each + suffix for each in _found(directory, suffix, is_name)})


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _found(directory: Path, suffix: str, is_name: Callable[[str], bool]) -> Iterator[str]:
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if not entry.name.endswith(suffix):
                    continue
                name = entry.name[: len(entry.name) - len(suffix)]
                if is_name(name) and (suffix or _is_directory(entry)):
                    yield name
    except (FileNotFoundError, NotADirectoryError):
        return
