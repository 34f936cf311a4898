"""Worlds outside /tmp: a sandboxed run sees the place, so that not reaching it means something."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from .world import NOBODY, World


@pytest.fixture(scope="module", params=["root", "user"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """The world of root, or of an ordinary user (the one who runs the tests, or nobody)."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("these tests are not run as root")
    uid = 0 if request.param == "root" else (os.geteuid() or NOBODY)
    base = next((d for d in ("/opt", "/srv") if os.access(d, os.W_OK)), None)
    if base is None:
        pytest.skip("there is no directory outside homes and /tmp to write to")
    root = Path(tempfile.mkdtemp(prefix="siding-escapes-", dir=base))
    root.chmod(0o755)
    try:
        yield World(root, uid)
    finally:
        # A run hides what only root may read below such a place, and other tests start runs there:
        # it goes all at once, if it can, and not file by file while they look.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as aside, suppress(OSError):
            root.rename(Path(aside) / "world")
        shutil.rmtree(root, ignore_errors=True)
