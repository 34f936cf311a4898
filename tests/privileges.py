"""Commands that are bound by permissions as a person's are, also where the tests run as root."""

import os
from collections.abc import Mapping, Sequence

import pytest

from sandbox import SIDING, Sandbox
from siding.process.capture import run_captured


def without_privileges() -> Sequence[str]:
    """Return what a command is put behind so that permissions bind it."""
    if os.geteuid() != 0:
        return ()
    limited = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner,-fsetid")
    try:
        works = run_captured(["/usr/bin/env", *limited, "true"], env=os.environ).returncode == 0
    except OSError:
        works = False
    if not works:
        pytest.skip("root is bound by no permission here, and setpriv cannot change that")
    return limited


def behind(
    sandbox: Sandbox,
    prefix: Sequence[str],
    *arguments: str,
    status: int | None = 0,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run Siding behind a prefix; return what it said."""
    done = run_captured(
        ["/usr/bin/env", "-C", str(sandbox.repo), *prefix, *SIDING, *arguments],
        env={**sandbox.env, **(env or {})},
    )
    said = (done.stdout + done.stderr).decode()
    assert status is None or done.returncode == status, (arguments, said)
    return said
