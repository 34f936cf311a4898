"""`siding gc --older` frees the large patches of old steps of closed tasks. Small ones stay.

What was freed says so everywhere; the journal proves it, and excuses no other loss.
"""

import json
import time
from pathlib import Path

import pytest

from integration.test_retention import AGE, record_of
from prepared import prepared
from sandbox import Sandbox
from siding.record.ledger.anchor import Anchor
from siding.record.ledger.store import link

BINARY = "head -c 100000 /dev/urandom >big"
FREED = "its patch was freed by `siding gc` on "


def _work(sandbox: Sandbox) -> None:
    """Task `open` has three large patches, and step 2 is left behind.

    Task `closed` has a small one in step 2, and its step 5 goes back to the state after step 3.
    """
    for name, scripts, back in (
        ("open", (BINARY, BINARY), "1"),
        ("closed", (BINARY, "echo small >small", BINARY, BINARY), "3"),
    ):
        sandbox.siding("-q", "task", "start", name)
        for script in scripts:
            sandbox.siding("-q", "run", "--", "sh", "-c", script)
        sandbox.siding("-q", "rollback", "--step", back)
    sandbox.siding("-q", "task", "close", "--force", "closed")
    time.sleep(1.2)


@pytest.fixture
def sandbox() -> Sandbox:
    return prepared(_work)


def patches(sandbox: Sandbox, name: str) -> dict[str, Path]:
    listed = sandbox.json("task", "list", "--all", "--format", "json")
    task = next(each["id"] for each in listed if each["name"] == name)
    found = (sandbox.project / "tasks" / task / "artifacts").glob("*.patch")
    return {path.stem: path for path in found}


def free(sandbox: Sandbox) -> None:
    report = sandbox.json("gc", "--json", "--yes", "--older", AGE)
    assert report["snapshots"]["freed"]["failed"] is None, report


def test_large_patches_of_closed_tasks_go_with_their_steps(sandbox: Sandbox) -> None:
    before, own = patches(sandbox, "open"), patches(sandbox, "closed")
    refused = sandbox.siding("gc", "--older", AGE, status=1)
    assert b"large patches of 3 steps (0001, 0003-0004)" in refused.stdout
    assert b"and the large patches of 3 steps, " in refused.stderr
    assert patches(sandbox, "closed").keys() == own.keys()

    planned = sandbox.json("gc", "--json", "--dry-run", "--older", AGE)["snapshots"]
    size = sum(path.stat().st_blocks * 512 for path in patches(sandbox, "closed").values())
    done = sandbox.siding("gc", "--older", AGE, "--yes")
    assert b"freed the large patches of 3 steps: " in done.stderr
    assert patches(sandbox, "closed").keys() == {"0002", "0005"}
    left = sum(path.stat().st_blocks * 512 for path in patches(sandbox, "closed").values())
    assert planned["patch_bytes"] == size - left
    assert patches(sandbox, "open").keys() == before.keys()  # nothing of an open task

    said = sandbox.siding("verify", "closed").stdout.decode()
    assert "is whole" in said
    assert "3 patches freed" in said
    assert sandbox.siding("doctor", "--check").stdout == b"everything agrees\n"
    marks = sandbox.json("log", "-t", "closed", "--limit", "0", "--format", "json")
    assert [each["step_id"] for each in marks if "patch_freed" in each] == ["0001", "0003", "0004"]
    assert not any(
        "patch_freed" in each
        for each in sandbox.json("log", "-t", "open", "--limit", "0", "--format", "json")
    )
    assert FREED in sandbox.siding("show", "3", "-t", "closed").stdout.decode()
    assert (
        b"its snapshot and its patch were freed"
        in sandbox.siding("show", "1", "-t", "closed").stdout
    )
    for step in ("1", "4"):
        gone = sandbox.siding("diff", "--step", step, "-t", "closed", status=1).stderr.decode()
        assert FREED in gone
        assert f"siding show {step}" in gone
    assert b"small" in sandbox.siding("diff", "--step", "2", "-t", "closed", "--stat").stdout

    assert b"nothing to free" in sandbox.siding("gc", "--older", AGE, "--yes").stderr
    sandbox.siding("-q", "task", "reopen", "closed")
    sandbox.siding("-q", "run", "--", "sh", "-c", "echo more >more")
    sandbox.siding("-q", "undo")
    assert "is whole" in sandbox.siding("verify").stdout.decode()


def test_patches_whose_snapshots_were_freed_before_go_once_the_task_is_closed(
    sandbox: Sandbox,
) -> None:
    """So in a home in which an earlier version freed the snapshots, and left the patches."""
    free(sandbox)
    assert b"its snapshot was freed" in sandbox.siding("show", "2", "-t", "open").stdout
    assert len(patches(sandbox, "open")) == 3
    sandbox.siding("-q", "task", "close", "--force", "open")
    time.sleep(1.2)
    free(sandbox)
    assert patches(sandbox, "open").keys() == {"0003"}
    assert "is whole" in sandbox.siding("verify", "open").stdout.decode()


def test_a_freeing_that_was_cut_off_is_finished(sandbox: Sandbox) -> None:
    kept = {step: path.read_bytes() for step, path in patches(sandbox, "closed").items()}
    where = patches(sandbox, "closed")
    free(sandbox)
    for step, data in kept.items():  # as they are between the line and the deletion
        where[step].write_bytes(data)
    lines = (sandbox.project / "freed.jsonl").read_bytes().splitlines(keepends=True)
    _forge(sandbox, lines[0])
    assert "is whole" in sandbox.siding("verify", "closed").stdout.decode()
    assert b"an earlier freeing had left" in sandbox.siding("gc").stderr
    assert patches(sandbox, "closed").keys() == {"0002", "0005"}
    assert "is whole" in sandbox.siding("verify", "closed").stdout.decode()


def test_the_journal_excuses_no_other_loss(sandbox: Sandbox) -> None:
    free(sandbox)
    newest = patches(sandbox, "closed")["0005"]
    line = {**record_of(sandbox), "prev": "0" * 64}
    of = next(each for each in line["tasks"] if "patches" in each)
    of["patches"] = ["0001", "0003", "0004", "0005"]
    whole = (sandbox.project / "freed.jsonl").read_bytes()
    anchor = (sandbox.project / "snapshots.git/freed-head").read_bytes()
    _forge(sandbox, json.dumps(line).encode() + b"\n")
    sandbox.siding("gc")  # finishes what looks unfinished
    assert newest.exists()
    said = sandbox.siding("verify", "closed", status=1).stdout
    assert b"says that the patch of step 0005 was freed, which is never freed" in said
    (sandbox.project / "freed.jsonl").write_bytes(whole)
    (sandbox.project / "snapshots.git/freed-head").write_bytes(anchor)
    assert "is whole" in sandbox.siding("verify", "closed").stdout.decode()
    newest.unlink()
    assert b"0005.patch" in sandbox.siding("verify", "closed", status=1).stdout


def _forge(sandbox: Sandbox, line: bytes) -> None:
    """Make the journal one line, and its anchor one that fits."""
    (sandbox.project / "freed.jsonl").write_bytes(line)
    anchor = Anchor(1, len(line), link(line[:-1])).encoded()
    (sandbox.project / "snapshots.git/freed-head").write_bytes(anchor)
