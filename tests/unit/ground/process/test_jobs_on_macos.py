"""A command of the built-in agent where its end cannot be told without reaping it."""

import asyncio
import os
from pathlib import Path

import pytest

from siding.ground.process.job import Ended, Job


def _ended(tmp_path: Path, script: str) -> tuple[Ended | None, bytes]:
    said: list[bytes] = []

    async def run() -> Ended | None:
        job = Job.start(
            ["sh", "-c", script],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"]},
            stdout=said.append,
            stderr=said.append,
        )
        try:
            return await job.wait(20)
        finally:
            await job.close()

    return asyncio.run(run()), b"".join(said)


@pytest.mark.parametrize(
    ("script", "ended"),
    [
        ("echo hi", Ended(0)),
        ("echo hi; exit 7", Ended(7)),
        ("echo hi; kill -9 $$", Ended(128 + 9)),
        ("echo hi; sleep 60 >/dev/null 2>&1 & exit 2", Ended(2, ("sleep",))),
    ],
)
@pytest.mark.parametrize("has_waitid", [True, False])
def test_how_it_ended_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, ended: Ended, has_waitid: bool
) -> None:
    if not has_waitid:
        monkeypatch.delattr(os, "waitid", raising=False)
    found, said = _ended(tmp_path, script)
    assert found == ended
    assert said.startswith(b"hi\n")
