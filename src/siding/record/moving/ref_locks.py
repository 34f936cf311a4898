"""Remove locks of refs that a git of ours left when it was killed."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.record.snapshots.directory_scan import identity

_LIVE_S = 0.3


PresentLocks = Mapping[Path, tuple[int, int, int, int]]  # what tells each from a later one


def present_locks(paths: Sequence[Path]) -> PresentLocks:
    """Return the locks that are there now."""
    return {path: found for path in paths if (found := identity(os.fspath(path))) is not None}


def sweep_locks(
    paths: Sequence[Path], written: Sequence[str], *, spare: PresentLocks | None = None
) -> None:
    """Remove locks of refs that hold one of the texts that we wrote, or the beginning of one.

    A lock of a git that is alive is gone, or another file, after `_LIVE_S` seconds; such a lock is
    left alone, and so are those in `spare`.
    """
    known = spare or {}
    before = {path: at for path, at in present_locks(paths).items() if known.get(path) != at}
    if not before:
        return
    time.sleep(_LIVE_S)
    for path, found in before.items():
        data = read_small(path, 4096)
        said = "" if data is None else data.strip().decode("utf-8", "surrogateescape")
        if data is None or not any(text.startswith(said) for text in written if text):
            continue  # whole or cut short, it would begin one of ours
        if identity(os.fspath(path)) == found:
            path.unlink(missing_ok=True)
