"""Whether sandboxes work on this machine, for tests that need one: tried, not looked up."""

import shutil
import subprocess
from collections.abc import Sequence
from functools import cache

import pytest

_WHOLE = (
    "bwrap",
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--",
    "true",
)


@cache
def bwrap_problem(prefix: Sequence[str] = ()) -> str:
    """Return why bubblewrap cannot be used, as this user or by way of `prefix`; "" when it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    done = subprocess.run([*prefix, *_WHOLE], capture_output=True, text=True, check=False, cwd="/")
    return "" if done.returncode == 0 else f"bubblewrap does not work here: {done.stderr.strip()}"


needs_bwrap = pytest.mark.skipif(bool(bwrap_problem()), reason=bwrap_problem() or "it works")
