"""The lock of a directory whose documents are changed together."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from siding.ground.files.durable import make_dirs
from siding.ground.storage.locks import FileLock


@contextmanager
def locked(directory: Path, timeout_s: float) -> Iterator[None]:
    """Hold it; the directory is made where it is missing. Raises LockBusy and OSError."""
    make_dirs(directory)
    with FileLock(directory / "lock").acquire(timeout_s=timeout_s):
        yield
