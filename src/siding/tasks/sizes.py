"""Measure what files take on disk, and keep what could not be measured."""

import os
from pathlib import Path
from stat import S_ISDIR

from siding.ground.namedtuples import NamedTuple


class Unmeasured(NamedTuple):
    """What could not be read, mostly a path: a size lacks it, or a part of what is in it."""

    what: str
    why: str


class Sizes:
    """Sizes on disk. ``unmeasured`` is what they lack."""

    def __init__(self) -> None:
        self.unmeasured: list[Unmeasured] = []

    def of(self, path: Path) -> int:
        """Return the bytes on disk of a file or of a whole directory; 0 if it does not exist."""
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError as error:
            self.lacks(os.fspath(path), error.strerror or str(error))
            return 0
        total = found.st_blocks * 512  # POSIX counts in units of 512 bytes
        waiting = [os.fspath(path)] if S_ISDIR(found.st_mode) else []
        while waiting:
            directory = waiting.pop()
            try:
                with os.scandir(directory) as entries:
                    for entry in entries:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
            except FileNotFoundError:
                continue  # deleted meanwhile
            except OSError as error:
                self.lacks(directory, error.strerror or str(error))
        return total

    def lacks(self, what: str, why: str) -> None:
        """Note what a size lacks: a path, or what else could not be measured."""
        self.unmeasured.append(Unmeasured(what, why))
