"""What is written, named and flushed, as it happens: for tests of what a power cut leaves.

The calls are observed, not replaced. A power cut itself is not simulated here.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from siding.ground.files import exchange

Call = tuple[str, tuple[int, int]]  # what, and the (device, inode) it was done to


class Watcher:
    """Writes down what is written, named and flushed, by inode."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.calls: list[Call] = []
        for name in ("write", "fsync", "ftruncate"):
            self._watch(patch, name, lambda a, _k: [os.fstat(a[0])])
        for name in ("rename", "link"):
            self._watch(
                patch,
                name,
                lambda a, k: [
                    _directory_of(a[0], k.get("src_dir_fd")),
                    _directory_of(a[1], k.get("dst_dir_fd")),
                ],
            )
        self._watch_exchanges(patch)
        for name in ("unlink", "rmdir", "mkdir"):
            self._watch(patch, name, lambda a, k: [_directory_of(a[0], k.get("dir_fd"))])

    def _watch(
        self, patch: pytest.MonkeyPatch, name: str, target: Callable[[Any, Any], list[Any]]
    ) -> None:
        real = getattr(os, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            result = real(*args, **kwargs)
            self.calls += [(name, (s.st_dev, s.st_ino)) for s in target(args, kwargs)]
            return result

        patch.setattr(os, name, call)

    def _watch_exchanges(self, patch: pytest.MonkeyPatch) -> None:
        real = exchange._renameat2

        def call(source: exchange.Entry, target: exchange.Entry, flags: int) -> None:
            real(source, target, flags)
            found = [os.fstat(each.directory) for each in (source, target)]
            self.calls += [("rename", (s.st_dev, s.st_ino)) for s in found]

        patch.setattr(exchange, "_renameat2", call)

    def unflushed(self) -> set[Call]:
        """What was changed and not flushed afterwards."""
        open_: set[Call] = set()
        for name, inode in self.calls:
            if name == "fsync":
                open_ = {call for call in open_ if call[1] != inode}
            else:
                open_.add((name, inode))
        return open_

    def renamed_unflushed_bytes(self) -> bool:
        """Whether a name was given while written bytes were not flushed."""
        dirty: set[tuple[int, int]] = set()
        for name, inode in self.calls:
            if name in {"rename", "link"} and dirty:
                return True
            if name == "write":
                dirty.add(inode)
            dirty -= {inode} if name == "fsync" else set()
        return False


def _directory_of(path: str | bytes | Path, dir_fd: int | None) -> os.stat_result:
    """Return the directory in which a call changes a name."""
    if dir_fd is None:
        return os.stat(Path(os.fsdecode(path)).parent)
    return os.fstat(dir_fd)
