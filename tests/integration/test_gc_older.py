"""`siding gc`: what it does not free stays, and is named.

With `--older` that is what was removed more recently, else what nobody can put into an archive.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from prepared import prepared
from sandbox import SIDING, Sandbox

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


DEEP = """
import os
for _ in range(25):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
os.mkdir("bottom")
"""


def test_what_lies_too_deep_or_may_not_be_read_stays_and_is_named(sandbox: Sandbox) -> None:
    """It is no failure for ever: a way out is told with it, and taking that frees the task."""
    sandbox.siding("-q", "task", "start", "deep")
    sandbox.siding("-q", "run", "--", sys.executable, "-c", DEEP)
    sandbox.siding("-q", "task", "start", "secret")
    sandbox.siding("-q", "run", "--", "sh", "-c", "mkdir shut; echo x >shut/x; chmod 0 shut")
    for name in ("deep", "secret"):
        sandbox.siding("-q", "task", "close", "--force", name)
    if os.geteuid() == 0:  # who may read everything
        drop = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
        sandbox.program = [*drop, *SIDING]
    done = sandbox.siding("gc").stderr.decode()
    assert "lies so deep that the system does not open it by its path" in done
    assert "shut' may not be read by you" in done
    assert "/shut (Permission denied)" in done
    assert "… (File name too long)" in done
    for name in ("deep", "secret"):
        assert f"{name} was not freed" in done
    record = sandbox.json("gc", "--json")
    assert len(record["unmeasured"]) == 2
    told = {each["id"]: each for each in record["freed"]}
    assert len(told) == 2
    assert all(each["failed"] and each["way_out"] for each in told.values())

    sandbox.siding("-q", "task", "reopen", "deep")
    workspace = sandbox.workspace("deep")
    assert [each.name for each in workspace.iterdir() if each.name.startswith("d")] == ["d" * 200]
    shutil.rmtree(workspace / ("d" * 200))
    sandbox.siding("-q", "task", "close", "--force", "deep")
    (shut,) = (sandbox.project / "trash").glob("*/workspace/shut")
    shut.chmod(0o700)
    assert {each["failed"] for each in sandbox.json("gc", "--json")["freed"]} == {None}
    sandbox.siding("-q", "task", "reopen", "secret")
    assert (sandbox.workspace("secret") / "shut/x").read_text() == "x\n"
