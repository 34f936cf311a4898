"""Say when files may have changed: the port, and the way that works everywhere.

What a watch says is a hint and nothing more: that a path may have changed. Hints are merged, they
come without a reason, and where too many came at once everything may have changed. Directories are
watched, not files: a document is replaced as a whole, and its new file is another one.

Whoever follows a directory looks at it after that: what happened before is not told.
"""

import os
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Protocol

from siding.ground.namedtuples import NamedTuple

EVERY_S = 1.0  # how often stamps are read where nothing tells of changes
_SHARE = 20  # a look at all stamps is followed by a pause of so many times its length


class Hints(NamedTuple):
    """The paths that may have changed. With `everything` any may, also one that is not named."""

    paths: frozenset[Path] = frozenset()
    everything: bool = False


class Watch(Protocol):
    """Follows directories. It is used by one thread."""

    @property
    def slow(self) -> str:
        """Why changes are seen late, as a part of a sentence; "" if they are not."""

    @property
    def due(self) -> float | None:
        """When `hints` is to be called though nothing can be read, as `time.monotonic` counts."""

    def fileno(self) -> int:
        """Return a descriptor that can be read when there are hints; -1 if there is none."""

    def follow(self, directories: Collection[Path]) -> set[Path]:
        """Follow these directories and no others; return those that were not followed before.

        One that is not there is passed over; the next call tries it again. Raises OSError if the
        system can follow no more.
        """

    def hints(self) -> Hints:
        """Return what may have changed since the last call, without waiting."""

    def close(self) -> None: ...


class Stamps:
    """A watch that reads the stamps of all entries, each second if that is cheap enough."""

    def __init__(self, slow: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.slow = slow
        self._monotonic = monotonic
        self._seen: dict[Path, dict[str, tuple[int, ...]]] = {}
        self.due: float | None = monotonic() + EVERY_S

    def fileno(self) -> int:
        return -1

    def follow(self, directories: Collection[Path]) -> set[Path]:
        wanted = set(directories)
        for path in self._seen.keys() - wanted:
            del self._seen[path]
        new = {path for path in wanted - self._seen.keys() if path.is_dir()}
        self._seen.update((path, _stamps(path)) for path in new)
        return new

    def hints(self) -> Hints:
        begun = self._monotonic()
        if self.due is not None and begun < self.due:
            return Hints()
        found: set[Path] = set()
        for path, before in self._seen.items():
            after = _stamps(path)
            found |= {path / name for name in before.keys() ^ after.keys()}
            found |= {
                path / name for name in after.keys() & before.keys() if after[name] != before[name]
            }
            self._seen[path] = after
        ended = self._monotonic()
        self.due = ended + max(EVERY_S, _SHARE * (ended - begun))
        return Hints(frozenset(found))

    def close(self) -> None:
        self._seen.clear()


def _stamps(directory: Path) -> dict[str, tuple[int, ...]]:
    """Return what changes with an entry, by its name; nothing of a directory that is gone."""
    found: dict[str, tuple[int, ...]] = {}
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:  # it went meanwhile
                    continue
                found[entry.name] = (status.st_mtime_ns, status.st_size, status.st_ino)
    except OSError:
        return {}
    return found
