"""The registry of workspaces is lost or damaged: nothing of a task goes out of reach."""

import json
from pathlib import Path

import pytest

from prepared import prepared
from sandbox import Sandbox

QUESTIONS = (
    ("diff", "--format", "json"),
    ("apply", "--dry-run"),
    ("rollback", "--base", "--dry-run"),
    ("status", "--format", "json"),
    ("worktree", "list", "--format", "json"),
    ("task", "list", "--all", "--format", "json"),
)


def _worked(sandbox: Sandbox) -> None:
    """A task with one step whose work is only in its workspace."""
    sandbox.siding("-q", "task", "start", "x")
    sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", "echo work >w.txt")


@pytest.fixture
def worked() -> Sandbox:
    return prepared(_worked)


def registry(sandbox: Sandbox) -> Path:
    return sandbox.project / "worktrees.json"


def answers(sandbox: Sandbox) -> list[object]:
    """What is said of the tasks, without what a rebuilt entry cannot know."""
    said: list[object] = []
    for question in QUESTIONS:
        done = sandbox.siding(*question, status=None)
        text = done.stdout.decode()
        if question[-1] != "json":
            said.append((done.returncode, text))
            continue
        found = json.loads(text)
        if question[0] == "worktree":
            found = [
                {key: each[key] for key in ("name", "path", "branch", "task_id", "status")}
                for each in found
            ]
        if question[0] == "diff":  # the tree of a look is the same, its base must be
            assert found.pop("to")
        said.append(found)
    return said


def states(sandbox: Sandbox) -> set[tuple[str, str, str]]:
    found = sandbox.json("worktree", "list", "--all", "--format", "json")
    return {(each["task_id"], each["status"], each["base_snapshot"]) for each in found}


def lose(path: Path) -> None:
    path.unlink()


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def drop_entries(path: Path) -> None:
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "worktrees": []}))


def spoil_an_entry(path: Path) -> None:
    document = json.loads(path.read_text())
    document["worktrees"][0]["status"] = "of another world"
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("harm", [lose, damage, empty, drop_entries, spoil_an_entry])
def test_everything_says_the_same_as_before(worked: Sandbox, harm) -> None:  # type: ignore[no-untyped-def]  # one of the functions above
    before = answers(worked)
    harm(registry(worked))
    spoiled = registry(worked).read_bytes() if registry(worked).exists() else None
    assert answers(worked) == before
    refused = worked.siding("worktree", "remove", "x", status=1).stderr
    assert b"only in its workspace: 1 changed file" in refused
    assert answers(worked) == before
    worked.siding("verify")
    kept = list(worked.project.glob("worktrees.json.damaged-*"))
    if harm in (damage, empty, spoil_an_entry):
        assert [each.read_bytes() for each in kept] == [spoiled]
        assert b"damaged" in refused
        assert kept[0].name.encode() in refused
    else:
        assert kept == []
        assert b"registry of workspaces" in refused
    # It is said once, and then everything agrees.
    again = worked.siding("task", "close", "x", status=1).stderr
    assert b"registry" not in again
    assert worked.siding("doctor", "--check").stdout == b"everything agrees\n"


def test_a_step_after_the_loss_does_not_move_the_base(worked: Sandbox) -> None:
    registry(worked).unlink()
    worked.siding("-q", "run", "--no-tty", "--", "true")
    assert worked.json("diff", "--format", "json")["file_list"] == ["w.txt"]
    assert b"already" not in worked.siding("rollback", "--base", "--dry-run").stdout
    worked.siding("worktree", "remove", "x", status=1)
    worked.siding("rollback", "--base")
    assert not (worked.workspace() / "w.txt").exists()


def test_the_doctor_reports_without_changing_and_mends(worked: Sandbox) -> None:
    damage(registry(worked))
    spoiled = registry(worked).read_bytes()
    checked = worked.siding("doctor", "--check", status=1).stdout
    assert b"the registry of workspaces is damaged" in checked
    assert registry(worked).read_bytes() == spoiled
    assert b"belongs to no workspace" not in checked
    worked.siding("doctor")
    assert worked.siding("doctor").stdout == b"everything agrees\n"
    assert len(list(worked.project.glob("worktrees.json.damaged-*"))) == 1


def test_what_was_removed_kept_or_deleted_is_known_again(sandbox: Sandbox) -> None:
    for name in ("removed", "kept", "deleted"):
        sandbox.siding("-q", "task", "start", name)
        sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", f"echo {name} >{name}.txt")
    sandbox.siding("task", "close", "removed", "--force")
    sandbox.siding("task", "close", "kept", "--keep")
    sandbox.siding("task", "close", "deleted", "--delete", "--force")
    before = states(sandbox)
    registry(sandbox).unlink()
    assert states(sandbox) == before
    for name in ("removed", "kept", "deleted"):
        sandbox.siding("task", "reopen", name)
        assert (sandbox.workspace(name) / f"{name}.txt").read_text() == f"{name}\n"
        assert sandbox.json("diff", "-t", name, "--format", "json")["file_list"] == [f"{name}.txt"]


def test_a_base_that_cannot_be_known_keeps_the_guard(worked: Sandbox) -> None:
    registry(worked).unlink()
    (worked.project / "snapshots.git").rename(worked.directory / "elsewhere")
    for command in (("worktree", "remove", "x"), ("task", "close", "x"), ("run", "--", "true")):
        refused = worked.siding(*command, status=None)
        assert refused.returncode == 1
        assert b"siding doctor" in refused.stderr
    assert (worked.workspace() / "w.txt").exists()
    # A person who insists gets the whole of it into the trash.
    said = worked.siding("worktree", "remove", "x", "--force").stderr
    assert b"without a snapshot" in said
    (kept,) = worked.project.glob("trash/*/workspace/w.txt")
    assert kept.read_text() == "work\n"


def test_a_home_that_was_taken_over_keeps_its_base(worked: Sandbox) -> None:
    """A document without the name of its worktree is no reason to move the base."""
    path = next((worked.project / "tasks").iterdir()) / "task.json"
    document = json.loads(path.read_text())
    document["worktree"] = ""
    path.write_text(json.dumps(document))
    registry(worked).unlink()
    worked.siding("-q", "run", "--no-tty", "--", "true")
    assert worked.json("diff", "--format", "json")["file_list"] == ["w.txt"]


def test_no_workspace_is_made_in_the_place_of_a_removed_one(worked: Sandbox) -> None:
    """Its entry says where in the trash it lies."""
    worked.siding("worktree", "remove", "x", "--force")
    before = registry(worked).read_bytes()
    refused = worked.siding("worktree", "add", "x", status=1).stderr
    assert b"already" in refused
    assert b"siding task reopen" in refused
    assert registry(worked).read_bytes() == before
    worked.siding("task", "reopen", "x")
    assert (worked.workspace("x") / "w.txt").is_file()
