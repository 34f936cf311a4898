"""What a restoration has done so far, so that it can be taken back if a file cannot be moved."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from itertools import count

from siding.ground.files.exchange import Entry, put, rename_new
from siding.ground.git.treewalk import OpenTree


class Journal:
    """The changes that were made in a worktree, in order. `at` is the path that is worked on."""

    def __init__(self, tree: OpenTree) -> None:
        self._tree = tree
        self._steps: list[Callable[[], bool]] = []
        self.at = b""

    def moved_out(self, path: bytes, aside: Entry) -> None:
        """A file was renamed to `aside`."""
        self._steps.append(lambda: self._move_in(path, aside))

    def put(self, path: bytes, new: Entry, *, displaced: bool) -> None:
        """`new` was put into the place of `path`; `displaced`: something was there."""
        identity = _identity(self._place(path))
        self._steps.append(lambda: self._take_out(path, new, identity, displaced=displaced))

    def removed(self, path: bytes, mode: int) -> None:
        """An empty directory was removed."""
        self._steps.append(lambda: self._make(path, mode))

    def made(self, path: bytes) -> None:
        """An empty directory was made."""
        self._steps.append(lambda: self._remove(path))

    def changed_mode(self, path: bytes, before: int) -> None:
        """A file or directory got other permissions; `before` are those it had."""
        self._steps.append(lambda: self._set_mode(path, before))

    def take_back(self) -> bool:
        """Undo all changes, the last one first; return whether all of it is as it was.

        What others wrote meanwhile stays, here or in the staging directory: then it is not.
        """
        whole = True
        for step in reversed(self._steps):
            try:
                whole = step() and whole
            except OSError:
                whole = False
        self._steps.clear()
        self._tree.lock_again()
        return whole

    def _place(self, path: bytes) -> Entry:
        above, name = os.path.split(path)
        return Entry(self._tree.writable(above), name)

    def _move_in(self, path: bytes, aside: Entry) -> bool:
        rename_new(aside, self._place(path))
        return True

    def _take_out(
        self, path: bytes, new: Entry, identity: tuple[int, int], *, displaced: bool
    ) -> bool:
        place = self._place(path)
        if displaced:
            put(_last_name(new), place)
            return _identity(new) == identity or _identity(_last_name(new)) == identity
        rename_new(place, new)
        return _identity(new) == identity

    def _make(self, path: bytes, mode: int) -> bool:
        above, name = os.path.split(path)
        os.mkdir(name, 0o700, dir_fd=self._tree.writable(above))
        self._tree.set_mode(path, stat.S_IMODE(mode))
        return True

    def _remove(self, path: bytes) -> bool:
        above, name = os.path.split(path)
        self._tree.forget(path)
        os.rmdir(name, dir_fd=self._tree.writable(above))
        return True

    def _set_mode(self, path: bytes, before: int) -> bool:
        self._tree.set_mode(path, stat.S_IMODE(before))
        return True


def _identity(entry: Entry) -> tuple[int, int]:
    try:
        found = os.stat(entry.name, dir_fd=entry.directory, follow_symlinks=False)
    except FileNotFoundError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _last_name(new: Entry) -> Entry:
    """Return the name of what was displaced: that of `new`, or the last with a number behind it,
    where names cannot be exchanged."""
    found = new
    with suppress(FileNotFoundError):
        for number in count():
            candidate = Entry(new.directory, b"%b.%d" % (new.name, number))
            os.stat(candidate.name, dir_fd=candidate.directory, follow_symlinks=False)
            found = candidate
    return found
