"""Format versions: each document has one whole number, which grows when old readers would be wrong.

A document without `version` has version 1, as the task files of the oldest homes. A migration is a
pure function that turns the data of one version into that of the next; it is kept for ever. Reading
migrates in memory, so it needs neither a lock nor room on the disk. To migrate a file, `keep_old`
first stores the old bytes beside it; only then is the file replaced.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from siding.ground.files.regular import read_bytes

Migration = Callable[[dict[str, Any]], dict[str, Any]]
FIRST_VERSION = 1


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
