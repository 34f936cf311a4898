"""kill -9 of the recorder at any moment: what it had shown is there, and recovery converges."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from siding.ground.process.output.reading import RecoveredOutput, read_output, recover_output

from .world import Place

# Numbered lines on both streams, so that a gap or a repeat cannot go unnoticed.
WRITER = """
import os
lines = 0
while lines < 40000:
    block = b"".join(b"%d\\n" % (lines + n) for n in range(100))
    os.write(1, block)
    os.write(2, block)
    lines += 100
"""


def numbered(size: int) -> bytes:
    """Return the first bytes of either stream."""
    text = b"".join(b"%d\n" % number for number in range(40_000))
    return text[:size]


@pytest.mark.parametrize("seed", range(12))
def test_a_recorder_killed_at_random_loses_nothing_it_had_read(place: Place, seed: int) -> None:
    """The screen gets only what the artifact has: everything shown must be recovered."""
    shown = place.folder / "shown"
    with shown.open("wb") as screen:
        line, path, outcome = place.recorder_argv(sys.executable, "-c", WRITER)
        recorder = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=screen, stderr=subprocess.DEVNULL
        )
        time.sleep(random.Random(seed).uniform(0.05, 0.6))
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
    place.end()
    recovered = recover_output(path)
    if recovered is None:  # killed before it began
        assert shown.read_bytes() == b""
        return
    check(path, recovered)
    assert recovered.stdout_bytes >= shown.stat().st_size
    assert outcome.exists() <= (recovered.stdout_bytes == len(numbered(10_000_000)))


def check(path: Path, recovered: RecoveredOutput) -> None:
    output = read_output(path, recovered.stdout_bytes, recovered.stderr_bytes)
    for span in (output.stdout, output.stderr):
        assert b"".join(span.chunks()) == numbered(span.size)
    assert (output.stdout.size, output.stderr.size) == (
        recovered.stdout_bytes,
        recovered.stderr_bytes,
    )
    assert recovered.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert recover_output(path) == recovered


CALLS = 50
COUNTED = ("open", "pwrite", "preadv", "pread", "fsync", "truncate", "rename", "fstat", "stat")
KILLED = 99


@pytest.mark.parametrize("call", range(1, CALLS))
def test_a_recovery_killed_at_any_call_is_repeated(place: Place, call: int) -> None:
    """The recovery ends at its n-th call that reads or changes files, for every n."""
    path = place.artifact()
    path.write_bytes(b"=== STDOUT ===\n" + numbered(150_000))
    path.with_name(f"{path.stem}.stderr").write_bytes(numbered(100_000))
    recovery = os.fork()
    if recovery == 0:
        recover_until(path, call)
    code = os.waitstatus_to_exitcode(os.waitpid(recovery, 0)[1])
    assert code == KILLED or call > 10  # so the first ones are cut off
    assert code == 0 or call < CALLS - 1  # and the last one is past the end
    recovered = recover_output(path)
    assert recovered is not None
    assert (recovered.stdout_bytes, recovered.stderr_bytes) == (150_000, 100_000)
    check(path, recovered)


def recover_until(path: Path, call: int) -> None:
    """In a child: recover, and be gone at the given call."""
    left = call

    def counted(act: Callable[..., Any]) -> Callable[..., Any]:
        def count(*args: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os._exit(KILLED)
            return act(*args, **options)

        return count

    for name in COUNTED:
        setattr(os, name, counted(getattr(os, name)))
    try:
        recover_output(path)
        os._exit(0)
    finally:
        os._exit(1)
