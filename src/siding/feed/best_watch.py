"""Choose the best watch that this system has, and another one when it can no more."""

import select
from collections.abc import Collection
from pathlib import Path

from siding.feed.inotify import Inotify
from siding.feed.kqueue import Kqueue
from siding.feed.watch import Hints, Stamps, Watch
from siding.ground.storage.filesystem import unsupported_reason


class WatchOfHome:
    """The best watch there is for a directory, and stamps from when that one can no more."""

    def __init__(self, root: Path) -> None:
        self._watch = open_watch(root)

    @property
    def slow(self) -> str:
        return self._watch.slow

    @property
    def due(self) -> float | None:
        return self._watch.due

    def fileno(self) -> int:
        return self._watch.fileno()

    def follow(self, directories: Collection[Path]) -> set[Path]:
        try:
            return self._watch.follow(directories)
        except OSError as error:
            self._watch.close()
            self._watch = Stamps(f"the system can follow no more directories: {error.strerror}")
            return self._watch.follow(directories)

    def hints(self) -> Hints:
        return self._watch.hints()

    def close(self) -> None:
        self._watch.close()


def open_watch(root: Path) -> Watch:
    """Return the best watch for what is below `root`."""
    # What other machines write there is told to nobody here.
    if unsupported_reason(root) is not None:
        return Stamps("the home is on a network or user-space file system")
    try:
        return Kqueue() if hasattr(select, "kqueue") else Inotify()
    except AttributeError:
        return Stamps("the system has no way to tell of changes")
    except OSError as error:
        return Stamps(f"the system tells no more processes of changes: {error.strerror}")
