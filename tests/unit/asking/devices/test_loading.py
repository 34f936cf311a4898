"""The library that checks signatures is loaded by whoever needs it, and by nobody else."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "modules",
    [
        "siding.faces.web.server, siding.faces.web.served",
        "siding.asking.devices.terminal",
        "siding.upkeep.doctor, siding.upkeep.findings",
        "siding.running.run",
        "siding.asking.answer",
    ],
)
def test_cryptography_is_not_loaded_at_the_start(modules: str) -> None:
    script = f"import sys, {modules}; print('cryptography' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False\n"
