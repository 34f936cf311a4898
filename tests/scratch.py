"""Directories for tests that need more than one, such as a property that tries many examples."""

import os
from tempfile import TemporaryDirectory


def scratch(prefix: str = "siding-scratch-") -> "TemporaryDirectory[str]":
    """Return a directory beside those that pytest gives: in memory, where flushing is free.

    `run.py` says where that is. Without it, or without room, it is the usual place of the system.
    """
    return TemporaryDirectory(prefix=prefix, dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
