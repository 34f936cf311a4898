"""Format versions: one whole number for each document, raised only when old readers would be wrong.

A document without `version` has version 1: the bar tool's task files carry none. A migration turns
the data of one version into that of the next; it is a pure function, named, and kept for ever.
Reading migrates in memory, so it needs neither a lock nor room on the disk; `keep_old` is the first
half of writing a migrated document: nothing is replaced before the old bytes are safe beside it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from siding.files.durable import create_bytes
from siding.files.regular import read_bytes

Migration = Callable[[dict[str, Any]], dict[str, Any]]
FIRST_VERSION = 1


def version_of(data: Mapping[str, Any]) -> int:
    """Return the data's version; raises ValueError with a reason when there is no telling."""
    version = data.get("version", FIRST_VERSION)
    if not isinstance(version, int) or isinstance(version, bool) or version < FIRST_VERSION:
        raise ValueError(f"its version is {str(version)[:40]!r}")
    return version


def migrate(
    data: dict[str, Any], *, to: int, migrations: Mapping[int, Migration]
) -> dict[str, Any]:
    """Return the data in version `to`: each step once, in order. `migrations` is keyed by the old
    version. Data that a step cannot handle raises ValueError with a reason.
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
    """Store the old bytes as ``<name>.v<N>.bak`` and return where; an equal one is left alone.

    Another one is never replaced: the next free name ``<name>.v<N>.2.bak`` … is taken.
    """
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
