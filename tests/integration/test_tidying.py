"""What gathers is tidied: packs of the snapshot store, and what killed writers left."""

import os
import subprocess
import time
from pathlib import Path

import pytest

import siding.record.snapshots.store
from sandbox import Sandbox
from siding.ground.files.durable import TEMPORARY_PREFIX
from siding.record.place.project import ensure_project
from siding.record.place.wiring import open_app
from siding.record.recording.verify import verify
from siding.running.checkpoint import checkpoint
from siding.tasks.start import start_task


def test_packs_are_joined_and_nothing_is_lost(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(siding.record.snapshots.store, "PACKS_BEFORE_TIDYING", 5)
    project, _made = ensure_project(open_app(env=sandbox.env, cwd=sandbox.repo))
    started = start_task(project, name="busy", base=None)
    assert started.workspace is not None
    for number in range(12):
        path = sandbox.workspace() / f"file{number}.txt"
        path.write_text(f"{number}\n")
        checkpoint(project, started.task.id, f"number {number}", wait=False)
        assert project.snapshots.packs() <= 6
    proof = verify(project, started.task.id)
    assert (proof.whole, proof.steps, proof.findings) == (True, 12, ())


@pytest.mark.parametrize("verb", ["gc", "doctor"])
def test_documents_that_killed_writers_left_are_removed(sandbox: Sandbox, verb: str) -> None:
    """The names are those of a real writer; nothing that may be somebody's goes with them."""
    sandbox.siding("task", "start", "one")
    (project,) = (sandbox.directory / "siding" / "projects").iterdir()
    (task,) = (project / "tasks").iterdir()
    dead = _dead_pid()
    stale = [_left(where, dead) for where in (project, task, task / "intents")]
    kept = [
        _left(task, os.getpid()),
        _left(sandbox.workspace(), dead),
        _left(project / "locks", dead, age_s=0),
    ]
    if verb == "doctor":
        told = sandbox.siding("doctor", "--check", status=1)
        assert b"left 3 temporary files or directories" in told.stdout
        assert all(path.exists() for path in stale)
    sandbox.siding(verb)
    assert not any(path.exists() for path in stale)
    assert all(path.exists() for path in kept)


def _left(directory: Path, pid: int, *, age_s: int = 120) -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / f"{TEMPORARY_PREFIX}{pid}.0123456789abcdef"
    path.write_text("{")
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def _dead_pid() -> int:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid
