"""What only root may read in the directories of the system, for a run of root to do without.

In a sandbox root keeps the rights of an owner, so it could read ``/etc/shadow``, the private keys
of services and the secrets of programs below ``/opt`` and ``/srv``. Nobody else can; nothing that
runs as an ordinary user needs them.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator

from siding.sandbox.engines.values import is_within

TOPS = ("/etc", "/opt", "/srv")
_DEEPEST = 4  # levels below a top
_MOST = 20_000  # entries that are looked at


def root_only(
    spared: Iterable[str],
    *,
    tops: Iterable[str] = TOPS,
    is_root: Callable[[], bool] = lambda: os.geteuid() == 0,
) -> tuple[list[str], list[str]]:
    """Return the files and the directories that others than root cannot read; none as a user.

    Nothing that is above, at or below one of the paths `spared` is returned.
    """
    files: list[str] = []
    directories: list[str] = []
    if is_root():
        kept = [os.path.realpath(each) for each in spared]
        for path, mode in _entries(tops):
            if any(is_within(path, each) or is_within(each, path) for each in kept):
                continue
            if stat.S_ISREG(mode) and not mode & 0o004:
                files.append(path)
            elif stat.S_ISDIR(mode) and not mode & 0o001:
                directories.append(path)
    return files, directories


def _entries(tops: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield path and mode of what is below; nothing below what others cannot enter."""
    left = _MOST
    waiting = [(each, 0) for each in tops]
    while waiting:
        directory, depth = waiting.pop(0)
        try:
            with os.scandir(directory) as found:
                entries = list(found)
        except OSError:
            continue
        for entry in entries:
            left -= 1
            if left < 0:
                return
            try:
                mode = entry.stat(follow_symlinks=False).st_mode
            except OSError:
                continue
            yield entry.path, mode
            if stat.S_ISDIR(mode) and mode & 0o001 and depth < _DEEPEST:
                waiting.append((entry.path, depth + 1))
