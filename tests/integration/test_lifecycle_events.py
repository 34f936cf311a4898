"""The events of a task's life, as a program reads them that knows other tools' events only."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from prepared import prepared
from sandbox import Sandbox


def events(sandbox: Sandbox) -> list[dict[str, Any]]:
    found = sandbox.json("worktree", "events", "--limit", "0", "--format", "json")
    assert isinstance(found, list)
    return found


def _worked(sandbox: Sandbox) -> None:
    """A task `x` whose work is only in its workspace."""
    sandbox.siding("-q", "task", "start", "x")
    sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", "echo work >w.txt")


@pytest.fixture
def worked() -> Sandbox:
    return prepared(_worked)


def removed(sandbox: Sandbox) -> None:
    sandbox.siding("worktree", "remove", "x", "--force")


def closed(sandbox: Sandbox) -> None:
    sandbox.siding("worktree", "remove", "x", "--force", "--complete")


def nothing(sandbox: Sandbox) -> None:
    del sandbox


@pytest.mark.parametrize(
    ("before", "command", "event", "why"),
    [
        (nothing, "worktree remove x", "worktree.remove", "only in its workspace"),
        (nothing, "task close x", "worktree.remove", "only in its workspace"),
        (removed, "worktree remove x", "worktree.remove", "removed"),
        (removed, "worktree keep x", "worktree.keep", "removed"),
        (closed, "worktree remove x --complete", "worktree.remove", "closed"),
        (closed, "task close x", "task.close", "closed"),
        (nothing, "task reopen x", "worktree.restore", "open"),
        (nothing, "worktree add x", "worktree.create", "active"),
    ],
)
def test_a_refusal_of_a_known_task_is_recorded(
    worked: Sandbox, before: Callable[[Sandbox], None], command: str, event: str, why: str
) -> None:
    before(worked)
    count = len(events(worked))
    refused = worked.siding(*command.split(), status=None)
    assert refused.returncode in (1, 2)
    # Looking at what would be hidden may record a step first.
    (told,) = [each for each in events(worked)[count:] if not each["event"].startswith("step.")]
    task = worked.json("task", "show", "x", "--format", "json")
    assert told["event"] == f"{event}.failed"
    assert told["task"]["id"] == task["id"]
    assert told["refused"] is True
    assert why in told["error"]
    assert told["error"].encode() in refused.stderr
    assert "ts" in told
    if event.startswith("worktree.") and event != "worktree.create":
        assert told["worktree"]["name"] == task["worktree"]


@pytest.mark.parametrize(
    ("command", "event", "worktree"),
    [
        ("task start y --base nope", "worktree.create", {"name": "y", "base_ref": "nope"}),
        ("task start --no-workspace y --base nope", "task.create", {"name": "y"}),
        ("worktree add nope", "worktree.create", {"name": "nope"}),
        ("worktree remove nope", "worktree.remove", {"name": "nope"}),
        ("worktree keep nope", "worktree.keep", {"name": "nope"}),
        ("task close nope", "task.close", {"name": "nope"}),
        ("task reopen nope", "worktree.restore", {"name": "nope"}),
        ("task update nope --owner ada", "task.update", {}),
    ],
)
def test_a_refusal_without_a_task_is_recorded(
    worked: Sandbox, command: str, event: str, worktree: dict[str, str]
) -> None:
    count = len(events(worked))
    worked.siding(*command.split(), status=None)
    (told,) = events(worked)[count:]
    assert (told["event"], told["task"], told["refused"]) == (f"{event}.failed", {}, True)
    assert worktree.items() <= told["worktree"].items()
    assert "nope" in told["error"]


@pytest.mark.parametrize(
    "command", ["worktree remove x --force --complete", "task close x --force"]
)
def test_the_task_is_completed_before_its_workspace_is_told_as_removed(
    worked: Sandbox, command: str
) -> None:
    count = len(events(worked))
    worked.siding(*command.split())
    told = [each for each in events(worked)[count:] if not each["event"].startswith("step.")]
    task = worked.json("task", "show", "x", "--format", "json")
    assert [each["event"] for each in told] == [
        "worktree.remove.before",
        "task.completed",
        "worktree.remove.after",
    ]
    completed, after = told[1:]
    assert completed["task"] == {
        "id": task["id"],
        "subject": "x",
        "status": "completed",
        "state": "closed",
    }
    assert completed["worktree"]["name"] == task["worktree"]
    assert after["task"] == {"id": task["id"], "status": "completed", "state": "closed"}
    assert after["worktree"]["status"] == "removed"
    assert task["status"] == "closed"


def test_without_completing_the_task_stays_in_progress(worked: Sandbox) -> None:
    removed(worked)
    after = events(worked)[-1]
    assert after["event"] == "worktree.remove.after"
    assert (after["task"]["status"], after["task"]["state"]) == ("in_progress", "active")


def test_a_task_goes_through_the_words_of_other_tools(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "x", "--no-workspace")
    sandbox.siding("-q", "worktree", "add", "x")
    sandbox.siding("-q", "task", "close", "x")
    sandbox.siding("-q", "task", "reopen", "x")
    told = [each["task"]["status"] for each in events(sandbox) if "status" in each["task"]]
    assert list(dict.fromkeys(told)) == ["pending", "in_progress", "completed"]
    assert told[-1] == "in_progress"
    assert events(sandbox)[-2]["event"] == "worktree.restore.after"


def test_limit_0_shows_all(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    for number in range(13):
        sandbox.siding("-q", "task", "start", f"t{number}", "--no-workspace")
        sandbox.siding("-q", "task", "close", f"t{number}")
    raw = (sandbox.project / "events.jsonl").read_text().splitlines()
    assert len(raw) == 26
    assert events(sandbox) == [json.loads(line) for line in raw]
    assert len(sandbox.json("worktree", "events", "--format", "json")) == 20
    assert len(sandbox.json("worktree", "events", "-n", "3", "--format", "json")) == 3
    assert b"0 shows" in sandbox.siding("worktree", "events", "--limit", "-1", status=2).stderr


def test_a_refusal_that_cannot_be_recorded_is_still_told(worked: Sandbox) -> None:
    path = worked.project / "events.jsonl"
    path.unlink()
    path.mkdir()
    assert b"nope" in worked.siding("worktree", "remove", "nope", status=1).stderr


def test_a_start_that_git_refuses_is_told_and_leaves_nothing_half_made(sandbox: Sandbox) -> None:
    """Where git keeps its records of worktrees, there is a file."""
    sandbox.siding("init")
    records = sandbox.repo / ".git/worktrees"
    records.write_text("")
    for _ in range(2):
        assert b"worktrees" in sandbox.siding("task", "start", "x", status=1).stderr
        sandbox.git("fsck", "--no-dangling")
    assert events(sandbox)[-1]["event"] == "worktree.create.failed"
    assert "refused" not in events(sandbox)[-1]
    assert events(sandbox)[-2]["event"] == "worktree.create.before"
    records.unlink()
    done = sandbox.siding("task", "start", "y")
    assert b"could not be finished" not in done.stderr
    assert sandbox.siding("doctor", "--check").stdout == b"everything agrees\n"
