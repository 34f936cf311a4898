"""Temporary files that a killed writer left."""

import fcntl
import os
from pathlib import Path

from siding.ground.errors import NotARegularFile
from siding.ground.files.durable import TEMPORARY_PREFIX
from siding.ground.files.regular import open_regular


def stale_temporaries(directory: Path) -> list[Path]:
    """Return the temporary files in a directory whose writers are dead.

    A writer lives when its process does or when the file is still locked (its number may mean
    nothing here: another container). A directory that is not there has none.
    """
    try:
        names = sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = [directory / name for name in names if name.startswith(TEMPORARY_PREFIX)]
    return [path for path in found if _on_stale(path, remove=False)]


def remove_if_stale(path: Path) -> bool:
    """Remove a temporary file if its writer is (still) dead; return whether it was removed."""
    return _on_stale(path, remove=True)


def _on_stale(path: Path, *, remove: bool) -> bool:
    pid = path.name.removeprefix(TEMPORARY_PREFIX).partition(".")[0]
    if not (pid.isascii() and pid.isdigit()) or _is_alive(int(pid)):
        return False
    try:
        fd = open_regular(path)
    except (OSError, NotARegularFile):
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if remove:
            path.unlink()
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
