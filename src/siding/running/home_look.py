"""Look at the start-up files of the person's home: what a login, git or ssh runs."""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from siding.agents.start_up_files import START_UP_DIRECTORIES, START_UP_FILES
from siding.record.snapshots.fingerprint import Mark, mark_of

LARGEST = 1 << 20  # bytes; of a larger file the marks are compared, not the content
MOST = 500  # files of one directory
_DEPTH = 2  # systemd's `default.target.wants/x.service`


def take_home(env: Mapping[str, str]) -> dict[str, Mark]:
    """Return a mark of each start-up file that is there, by its path."""
    home = env.get("HOME", "")
    if not os.path.isabs(home):
        return {}
    return {path: mark for path in _paths(home, env) if (mark := _content_mark(path)) is not None}


def _paths(home: str, env: Mapping[str, str]) -> Iterator[str]:
    config = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")

    def placed(name: str) -> str:
        inside = name.removeprefix(".config/")
        return os.path.join(home if inside == name else config, inside)

    zsh = env.get("ZDOTDIR", "")
    for name in START_UP_FILES:
        yield placed(name)
        if zsh and name.startswith(".z"):
            yield os.path.join(zsh, name)
    for name in START_UP_DIRECTORIES:
        yield from _below(placed(name), _DEPTH)


def _below(directory: str, depth: int) -> Iterator[str]:
    try:
        names = sorted(os.listdir(directory))[:MOST]
    except OSError:
        return
    for name in names:
        path = os.path.join(directory, name)
        if depth > 1 and os.path.isdir(path) and not os.path.islink(path):
            yield from _below(path, depth - 1)
        else:
            yield path


def _content_mark(path: str) -> Mark | None:
    """Return numbers that differ when a file's content does; None if it does not exist.

    Links are followed: such files are often links into a directory that a person keeps elsewhere.
    A backup that sets links or times is no change.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return mark_of(Path(path))
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            return mark_of(Path(path))
        content = os.read(descriptor, LARGEST + 1)
        return (found.st_mode, 0, len(content), hash(content))
    except OSError:
        return None
    finally:
        os.close(descriptor)
