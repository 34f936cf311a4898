"""The screens of Siding that are open, and whether a person looks at one of them now.

A screen (the terminal's, a dashboard with a page that is seen) has a file in ``screens/`` of the
home as long as it is open, and holds its lock. The file's first word says whether it has the
person's eyes: ``here``, ``away`` or ``unknown``, which counts as away. A file that nobody holds is
of a screen that died, and is swept by the next one that opens.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from siding.ground.storage.layout import Home

_WORDS = {True: b"here\n", False: b"away\n", None: b"unknown\n"}
_LONGEST = 16
_MOST_LOOKED_AT = 200


class OpenScreen:
    """A screen that is open. A context manager; every method survives a home that is read-only."""

    def __init__(self, home: Home) -> None:
        self._directory = home.screens_dir
        self._path = self._directory / os.urandom(8).hex()
        self._fd: int | None = None
        self._said: bytes = b""

    def __enter__(self) -> Self:
        with suppress(OSError):
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _sweep(self._directory)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            self._fd = os.open(self._path, flags, 0o600)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.has_eyes(None)
        return self

    def __exit__(self, *_failure: object) -> None:
        if self._fd is None:
            return
        with suppress(OSError):
            self._path.unlink()
        os.close(self._fd)
        self._fd = None

    def has_eyes(self, has: bool | None) -> None:
        """Say whether the person looks at this screen; None if nobody can tell."""
        word = _WORDS[has]
        if self._fd is None or word == self._said:
            return
        with suppress(OSError):
            os.pwrite(self._fd, word.ljust(_LONGEST), 0)  # one write: nobody reads half of it
            self._said = word


def somebody_looks(home: Home) -> bool:
    """Tell whether a person looks at a screen of Siding now, as far as screens can tell."""
    try:
        names = os.listdir(home.screens_dir)[:_MOST_LOOKED_AT]
    except OSError:
        return False
    return any(_has_eyes(home.screens_dir / name) for name in names)


def _has_eyes(path: Path) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.read(fd, _LONGEST).startswith(_WORDS[True].strip()) and _is_held(fd)
    except OSError:
        return False
    finally:
        os.close(fd)


def _is_held(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _sweep(directory: Path) -> None:
    for name in os.listdir(directory)[:_MOST_LOOKED_AT]:
        with suppress(OSError):
            fd = os.open(directory / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                # A file that was made a moment ago has no lock yet, and nothing in it.
                if os.fstat(fd).st_size and not _is_held(fd):
                    (directory / name).unlink()
            finally:
                os.close(fd)
