"""What the model has seen of files: a file is changed only as it was seen."""

import os
from pathlib import Path

from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple


class Seen(NamedTuple):
    """A file as it was when the model saw it, or wrote it. No digest: it was too large for one."""

    size: int
    mtime_ns: int
    digest: str = ""


class KnownFiles:
    """The files that the model has seen, by their resolved paths."""

    def __init__(self) -> None:
        self._seen: dict[Path, Seen] = {}

    def add(self, path: Path, status: os.stat_result, data: bytes | None) -> None:
        """Take note that the model has seen the file; `data` is all that it held."""
        digest = "" if data is None else sha256_hex(data)
        self._seen[path] = Seen(status.st_size, status.st_mtime_ns, digest)

    def problem(self, path: Path, status: os.stat_result, data: bytes) -> str:
        """Return why the file must be read before it is changed; "" if it must not."""
        seen = self._seen.get(path)
        if seen is None:
            return "it has not been read yet. Read it first, then change it."
        if (seen.size, seen.mtime_ns) == (status.st_size, status.st_mtime_ns):
            return ""
        if seen.digest == sha256_hex(data):
            return ""
        return (
            "it was changed on disk since it was read, by a person, a formatter or a command. "
            "Read it again, then change it."
        )
