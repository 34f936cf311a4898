"""The snapshot store stays small in files: its packs are joined when many have gathered."""

import pytest

import siding.git.snapshots.store
from sandbox import Sandbox
from siding.app.life.start import start_task
from siding.app.place.project import ensure_project
from siding.app.place.wiring import open_app
from siding.app.recording.verify import verify
from siding.app.running.checkpoint import checkpoint


def test_packs_are_joined_and_nothing_is_lost(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(siding.git.snapshots.store, "PACKS_BEFORE_TIDYING", 5)
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
