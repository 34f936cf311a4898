"""The snapshot store is lost or damaged: it is said, and the recording goes on."""

import json
import shutil
from pathlib import Path

import pytest

from prepared import prepared
from sandbox import Sandbox


def _worked(sandbox: Sandbox) -> None:
    """A task of two steps."""
    sandbox.siding("-q", "task", "start", "x")
    for name in ("one", "two"):
        sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", f"echo {name} >{name}.txt")


@pytest.fixture
def worked() -> Sandbox:
    return prepared(_worked)


def store(sandbox: Sandbox) -> Path:
    return sandbox.project / "snapshots.git"


def lose(sandbox: Sandbox) -> None:
    shutil.rmtree(store(sandbox))


def lose_and_start_another(sandbox: Sandbox) -> None:
    """Another task makes a store, in which nothing of the first is."""
    shutil.rmtree(store(sandbox))
    sandbox.siding("-q", "task", "start", "another", "--no-switch")


def lose_objects(sandbox: Sandbox) -> None:
    shutil.rmtree(store(sandbox) / "objects")


def damage_packs(sandbox: Sandbox) -> None:
    for pack in (store(sandbox) / "objects" / "pack").glob("*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(pack.read_bytes()[:20] + b"spoiled" * 10)


def lose_the_ref(sandbox: Sandbox) -> None:
    shutil.rmtree(store(sandbox) / "refs")


HARMS = [lose, lose_and_start_another, lose_objects, damage_packs]


@pytest.mark.parametrize("harm", HARMS)
def test_the_doctor_lets_the_recording_go_on(worked: Sandbox, harm) -> None:  # type: ignore[no-untyped-def]  # one of the functions above
    harm(worked)
    checked = worked.siding("doctor", "--check", status=1).stdout
    assert b"the snapshots of task" in checked
    mended = worked.siding("doctor").stdout
    assert b"can no longer be gone back to" in mended
    assert worked.siding("doctor").stdout == b"everything agrees\n"
    worked.siding("-q", "run", "--no-tty", "--", "sh", "-c", "echo three >three.txt")
    steps = worked.steps()
    assert [each["step_id"] for each in steps] == ["0001", "0002", "0003", "0004"]
    assert steps[2]["kind"] == "checkpoint"
    assert "began anew" in steps[2]["message"]
    assert set(steps[2]["diff_stat"]["file_list"]) == {"one.txt", "two.txt"}
    changed = worked.json("diff", "--format", "json")["file_list"]
    assert set(changed) == {"one.txt", "two.txt", "three.txt"}
    # What is lost is not pretended to be there; what was recorded since is.
    refused = worked.siding("rollback", "--step", "1", status=None)
    if refused.returncode:
        assert b"lost or damaged" in refused.stderr
    assert worked.siding("verify", status=None).returncode == 1
    worked.siding("worktree", "remove", "x", status=1)
    worked.siding("rollback", "--step", "3")
    assert not (worked.workspace() / "three.txt").exists()
    worked.siding("rollback", "--base")
    assert not (worked.workspace() / "one.txt").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("diff",),
        ("apply", "--dry-run"),
        ("rollback", "--step", "1"),
        ("run", "--", "true"),
        ("task", "close", "x"),
    ],
)
def test_every_command_names_the_way_out(worked: Sandbox, command: tuple[str, ...]) -> None:
    lose(worked)
    done = worked.siding(*command, status=1)
    assert b"siding doctor" in done.stdout + done.stderr
    assert b"git ended" not in done.stdout + done.stderr
    assert (worked.workspace() / "two.txt").exists()


def test_the_patch_of_a_step_is_shown_from_its_artifact(worked: Sandbox) -> None:
    before = worked.siding("diff", "--step", "1").stdout
    lose(worked)
    assert worked.siding("diff", "--step", "1").stdout == before
    assert worked.json("diff", "--step", "1", "--format", "json")["file_list"] == ["one.txt"]
    assert b"one.txt" in worked.siding("diff", "--step", "1", "--stat").stdout


def test_a_doctor_that_was_killed_half_way_is_repeated(worked: Sandbox) -> None:
    """The store was made anew, and the registry still names the base of before."""
    registry = worked.project / "worktrees.json"
    before = registry.read_bytes()
    lose(worked)
    worked.siding("doctor")
    registry.write_bytes(before)
    worked.siding("doctor")
    assert worked.siding("doctor").stdout == b"everything agrees\n"
    assert set(worked.json("diff", "--format", "json")["file_list"]) == {"one.txt", "two.txt"}


def test_a_wrong_base_in_the_registry_costs_no_snapshot(worked: Sandbox) -> None:
    registry = worked.project / "worktrees.json"
    document = json.loads(registry.read_text())
    document["worktrees"][0]["base_snapshot"] = "0" * 40
    registry.write_text(json.dumps(document))
    worked.siding("doctor")
    assert worked.siding("doctor").stdout == b"everything agrees\n"
    assert set(worked.json("diff", "--format", "json")["file_list"]) == {"one.txt", "two.txt"}
    worked.siding("verify")
    worked.siding("rollback", "--step", "1")
    assert not (worked.workspace() / "two.txt").exists()


def test_a_lost_ref_costs_nothing(worked: Sandbox) -> None:
    lose_the_ref(worked)
    said = worked.siding("doctor").stdout
    assert b"can no longer" not in said
    assert worked.siding("doctor").stdout == b"everything agrees\n"
    worked.siding("verify")
    worked.siding("rollback", "--step", "1")
    assert not (worked.workspace() / "two.txt").exists()


def test_both_the_registry_and_the_store(worked: Sandbox) -> None:
    (worked.project / "worktrees.json").unlink()
    lose(worked)
    worked.siding("doctor")
    assert worked.siding("doctor").stdout == b"everything agrees\n"
    assert set(worked.json("diff", "--format", "json")["file_list"]) == {"one.txt", "two.txt"}
    worked.siding("worktree", "remove", "x", status=1)


def test_a_closed_task_is_brought_back_from_the_trash(worked: Sandbox) -> None:
    worked.siding("task", "close", "x", "--force")
    lose(worked)
    assert b"are missing or damaged" in worked.siding("doctor").stdout
    assert worked.siding("doctor").stdout == b"everything agrees\n"
    worked.siding("task", "reopen", "x")
    worked.siding("doctor")
    worked.siding("-q", "run", "--no-tty", "--", "true")
    assert set(worked.json("diff", "--format", "json")["file_list"]) == {"one.txt", "two.txt"}
