"""`siding gc --older`: what was removed more recently than that stays."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from prepared import prepared
from sandbox import Sandbox

AGES = {"young": 5, "old": 100, "ancient": 400}  # days since the workspace was removed


def _work(sandbox: Sandbox) -> None:
    """Three closed tasks whose workspaces were removed at different times, and an open one."""
    for name in (*AGES, "open"):
        sandbox.siding("-q", "task", "start", name)
        sandbox.siding("-q", "run", "--", "sh", "-c", f"echo {name} >{name}.txt")
        if name != "open":
            sandbox.siding("-q", "task", "close", "--force", name)
    removed = {name: datetime.now(UTC) - timedelta(days=days) for name, days in AGES.items()}
    say_removed(sandbox, {name: at.isoformat() for name, at in removed.items()})


@pytest.fixture
def sandbox() -> Sandbox:
    return prepared(_work)


def say_removed(sandbox: Sandbox, times: Mapping[str, str | None]) -> None:
    """Write into the registry when the workspaces of these tasks were removed."""
    tasks = sandbox.json("task", "list", "--all", "--format", "json")
    names = {each["id"]: each["name"] for each in tasks}
    registry = sandbox.project / "worktrees.json"
    document = json.loads(registry.read_bytes())
    for entry in document["worktrees"]:
        name = names[entry["task_id"]]
        if name in times:
            entry["removed_at"] = times[name]
    registry.write_text(json.dumps(document), encoding="utf-8")


def freed(sandbox: Sandbox, *words: str) -> set[str]:
    report = sandbox.json("gc", "--json", *words)
    names = {each["id"]: each["name"] for each in report["tasks"]}
    return {names[each["id"]] for each in report["freed"]}


@pytest.mark.parametrize(
    ("age", "expected"),
    [("2y", set()), ("1y", {"ancient"}), ("12w", {"ancient", "old"}), ("101d", {"ancient"})],
)
def test_only_what_was_removed_longer_ago_is_freed(
    sandbox: Sandbox, age: str, expected: set[str]
) -> None:
    would = sandbox.siding("gc", "--dry-run", "--older", age).stdout.decode()
    lines = [line for line in would.splitlines() if line.startswith("free ")]
    assert {line.split()[2].rstrip(":") for line in lines} == expected
    assert freed(sandbox, "--older", age) == expected
    trash = sandbox.project / "trash"
    assert len(list(trash.iterdir())) == len(AGES) - len(expected)
    for name in expected:
        sandbox.siding("task", "reopen", name)
        assert (sandbox.workspace(name) / f"{name}.txt").read_text(encoding="utf-8") == f"{name}\n"
    assert (sandbox.workspace("open") / "open.txt").exists()


def test_a_time_that_is_not_known_is_not_old(sandbox: Sandbox) -> None:
    without_offset = "2001-01-01T00:00:00"
    say_removed(sandbox, {"ancient": None, "old": without_offset})
    assert freed(sandbox, "--older", "1d") == {"young"}


def test_branches_of_what_is_younger_stay(sandbox: Sandbox) -> None:
    kept = sandbox.git("for-each-ref", "--format=%(refname)", "refs/heads/siding")
    assert sandbox.json("gc", "--json", "--dry-run", "--older", "2y")["branches"] == []
    sandbox.siding("gc", "--older", "2y")
    assert sandbox.git("for-each-ref", "--format=%(refname)", "refs/heads/siding") == kept
