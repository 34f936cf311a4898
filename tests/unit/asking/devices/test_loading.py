"""The library that checks signatures is loaded by whoever needs it, and by nobody else."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "siding.faces.web.command",
        "siding.faces.cli.asking.devices.list",
        "siding.faces.cli.asking.devices.pair",
        "siding.faces.cli.upkeep.doctor",
        "siding.running.run",
        "siding.asking.answer",
    ],
)
def test_cryptography_is_not_loaded_at_the_start(module: str) -> None:
    script = f"import sys, {module}; print('cryptography' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False\n"
