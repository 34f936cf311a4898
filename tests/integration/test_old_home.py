"""A home written by the bar tool opens as it is, and goes on."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox

LEDGER: list[dict[str, Any]] = [
    {
        "step_id": "0001",
        "kind": "run",
        "cmd": ["claude", "analyze"],
        "cwd": ".",
        "started_at": "2024-01-15T10:01:00Z",
        "ended_at": "2024-01-15T10:01:30Z",
        "exit_code": 0,
        "diff_stat": {"files": 0, "additions": 0, "deletions": 0},
        "artifacts": {},
    },
    {
        "step_id": "0002",
        "kind": "run",
        "cmd": ["claude", "fix it"],
        "cwd": ".",
        "started_at": "2024-01-15T10:02:00Z",
        "ended_at": "2024-01-15T10:03:00Z",
        "duration_ms": 60000,
        "exit_code": 1,
        "diff_stat": {"files": 1, "additions": 15, "deletions": 5, "file_list": ["a.py"]},
        "artifacts": {"output": "artifacts/0002.output"},
        "policy_events": [],
    },
    {
        "step_id": "0003",
        "kind": "rollback",
        "target": "base",
        "target_step": None,
        "hard": False,
        "started_at": "2024-01-15T10:05:00Z",
        "ended_at": "2024-01-15T10:05:02Z",
    },
]

CONFIG = """\
version: 1
git:
  default_base: main
  branch_prefix: bar/
policy:
  enabled: false
  path: .bar/policy.yaml
hooks:
  pre_run: []
  post_run: []
output:
  color: true
  verbose: false
"""


@pytest.fixture
def old(sandbox: Sandbox) -> Sandbox:
    """A repository with a home in exactly the shape the bar tool leaves."""
    root = sandbox.repo.resolve()
    digest = hashlib.sha256(str(root).encode()).hexdigest()[:4]
    project = sandbox.directory / "siding" / "projects" / f"repo-{digest}"
    task = project / "tasks" / "a-b_C123"
    (task / "artifacts").mkdir(parents=True)
    (project / "config.yaml").write_text(CONFIG)
    write(project / "state.json", {"version": 1, "active_task_id": "a-b_C123", "updated_at": "x"})
    workspace = project / "workspaces" / "a-b_C123"
    sandbox.git("worktree", "add", "-q", "-b", "bar/fix-a-b_C123", str(workspace))
    document = {
        "id": "a-b_C123",
        "name": "fix",
        "repo_root": str(root),
        "base_ref": "main",
        "branch": "bar/fix-a-b_C123",
        "workspace_path": ".bar/workspaces/a-b_C123",
        "status": "active",
        "created_at": "2024-01-15T10:00:00Z",
        "updated_at": "2024-01-15T10:30:00Z",
        "closed_at": None,
        "metadata": {"tags": ["bug"]},
        "something_of_tomorrow": {"kept": True},
    }
    write(task / "task.json", document)
    (task / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LEDGER))
    (task / "artifacts" / "0002.output").write_bytes(
        b"=== STDOUT ===\nAnalyzing\n\n=== STDERR ===\nWarning\n"
    )
    (workspace / "a.py").write_text("by the agent\n")
    # The main line went on meanwhile.
    (sandbox.repo / "later.txt").write_text("later\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "later")
    return sandbox


def write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, indent=2))


def test_reading_changes_nothing(old: Sandbox) -> None:
    before = {p: p.read_bytes() for p in old.project.rglob("*.json*") if p.is_file()}
    assert b"a-b_C123" in old.siding("task", "list").stdout
    assert b"claude analyze" in old.siding("log").stdout
    assert b"Warning" in old.siding("show", "2").stdout
    assert old.json("status", "--format", "json")["workspace_present"]
    assert [step["step_id"] for step in old.steps()] == ["0001", "0002", "0003"]
    after = {p: p.read_bytes() for p in before}
    assert after == before


def test_what_is_said_before_it_is_taken_over(old: Sandbox) -> None:
    patch = (
        b"diff --git a/a.py b/a.py\nnew file mode 100644\nindex 0000000..5626abf\n--- /dev/null\n"
        b"+++ b/a.py\n@@ -0,0 +1 @@\n+one\n"
    )
    (old.project / "tasks" / "a-b_C123" / "artifacts" / "0002.patch").write_bytes(patch)
    assert old.siding("doctor").stdout == b"everything agrees\n"
    assert old.siding("diff", "--step", "2").stdout == patch
    assert b"a.py" in old.siding("diff", "--step", "2", "--stat").stdout
    assert b"left no patch" in old.siding("diff", "--step", "1", status=None).stderr
    for command in (("diff", "--stat"), ("apply", "--dry-run")):
        said = old.siding(*command, status=1).stderr
        assert b"begun by another tool" in said
        assert b"siding checkpoint" in said
        assert b"reopen" not in said
    (line,) = [each for each in old.siding("status").stdout.splitlines() if b"base " in each]
    assert line.split() == [b"base", b"main"]
    old.siding("checkpoint")
    assert old.json("diff", "--format", "json")["file_list"] == ["a.py"]
    assert b"a.py" in old.siding("apply", "--dry-run").stdout


@pytest.mark.parametrize("name", ["-b_C123a", "-x-1", "-made_by_hand"])
def test_an_id_that_begins_with_a_dash(name: str, old: Sandbox) -> None:
    tasks, workspaces = old.project / "tasks", old.project / "workspaces"
    (tasks / "a-b_C123").rename(tasks / name)
    old.git("worktree", "move", str(workspaces / "a-b_C123"), str(workspaces / name))
    document = json.loads((tasks / name / "task.json").read_text())
    write(tasks / name / "task.json", {**document, "id": name})
    write(old.project / "state.json", {"version": 1, "active_task_id": name})
    old.siding("run", "--no-tty", "--", "true")
    assert old.json("diff", "--format", "json")["file_list"] == ["a.py"]
    for words in (("show", name), ("list",)):
        assert name in old.siding("task", *words).stdout.decode()
    assert old.siding("path", name).stdout.decode().strip() == str(workspaces / name)
    old.siding("run", "--no-tty", "-t", name, "--", "true")


def test_the_first_run_takes_it_over(old: Sandbox) -> None:
    old.siding("run", "--", "sh", "-c", "echo more >more.txt")
    steps = old.steps()
    assert [step["step_id"] for step in steps] == ["0001", "0002", "0003", "0004", "0005"]
    # What the agent had done under the old tool is a step of its own, against the old base.
    assert steps[3]["kind"] == "checkpoint"
    assert steps[3]["diff_stat"]["file_list"] == ["a.py"]
    assert steps[4]["diff_stat"]["file_list"] == ["more.txt"]
    assert set(old.json("diff", "--format", "json")["file_list"]) == {"a.py", "more.txt"}
    old.siding("verify")
    task = json.loads((old.project / "tasks" / "a-b_C123" / "task.json").read_text())
    assert task["something_of_tomorrow"] == {"kept": True}
    assert task["metadata"] == {"tags": ["bug"]}


def test_a_new_task_beside_the_old_one(old: Sandbox) -> None:
    old.siding("task", "start", "new one")
    branch = old.json("task", "show", "--format", "json")["branch"]
    assert branch.startswith("bar/new-one-")
    assert len(old.json("task", "list", "--format", "json")) == 2
    old.siding("task", "close", "a-b_C123", "--keep")


PATCH = (
    b"diff --git a/a.py b/a.py\nnew file mode 100644\nindex 0000000..5626abf\n--- /dev/null\n"
    b"+++ b/a.py\n@@ -0,0 +1 @@\n+one"
)


@pytest.mark.parametrize("end", [b"", b"\n"], ids=["cut off", "whole"])
@pytest.mark.parametrize("taken_over", [False, True])
def test_the_patch_of_a_step_is_shown_and_can_be_applied(
    old: Sandbox, end: bytes, taken_over: bool
) -> None:
    path = old.project / "tasks" / "a-b_C123" / "artifacts" / "0002.patch"
    path.write_bytes(PATCH + end)
    if taken_over:
        old.siding("checkpoint")
    assert old.siding("diff", "2").stdout == PATCH + b"\n"
    shown = old.siding("show", "2").stdout
    assert b"--- patch" in shown
    assert PATCH in shown
    assert b"Warning" in shown
    assert b"--- patch" not in old.siding("show", "1").stdout
    old.siding("diff", "2", "-o", str(old.directory / "out.patch"))
    old.git("apply", "--check", str(old.directory / "out.patch"))
    assert path.read_bytes() == PATCH + end


def wrapped(old: Sandbox, ids: list[str]) -> None:
    lines = [{**LEDGER[0], "step_id": name, "cmd": ["do", str(at)]} for at, name in enumerate(ids)]
    path = old.project / "tasks" / "a-b_C123" / "ledger.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize(
    "ids",
    [
        ["0001", "0002", "0002", "0003", "9999", "0000"],
        ["0001", "0002", "9999", "0000", "0001", "0002"],
        ["0001", "0002", "0002", "9998"],
        ["9999", "0000", "0001", "0002", "0002", "0002"],
    ],
    ids=lambda ids: ids[-1],
)
@pytest.mark.parametrize("goes_on", [False, True])
def test_numbers_that_began_again_are_found_and_not_used_again(
    old: Sandbox, ids: list[str], goes_on: bool
) -> None:
    wrapped(old, ids)
    if goes_on:
        old.siding("-q", "run", "--no-tty", "--", "true")
        old.siding("-q", "run", "--no-tty", "--", "true")
        made = [step["step_id"] for step in old.steps()][len(ids) :]
        assert made
        assert len(set(made)) == len(made)
        assert not set(made) & set(ids)
    for name in set(ids):
        lines = [at for at, each in enumerate(ids) if each == name]
        for command in ("show", "diff"):
            done = old.siding(command, name, status=None)
            assert b"has no step" not in done.stderr
            told = f"{len(lines)} steps of another tool have the number {name}".encode()
            assert (told in done.stderr) == (len(lines) > 1)
        shown = old.siding("show", name)
        assert f"do {lines[-1]}\n".encode() in shown.stdout
        for line in lines if len(lines) > 1 else []:
            assert str(line + 1).encode() in shown.stderr
    assert b"has no step" in old.siding("show", "777", status=1).stderr
    if "0000" not in ids:
        old.siding("show", "0000", status=1)


DASHED = "-b_C123a"


@pytest.fixture
def dashed(old: Sandbox) -> Sandbox:
    """The same home, with a task id that begins with a dash, as one in 32 does there."""
    tasks, workspaces = old.project / "tasks", old.project / "workspaces"
    (tasks / "a-b_C123").rename(tasks / DASHED)
    old.git("worktree", "move", str(workspaces / "a-b_C123"), str(workspaces / DASHED))
    document = json.loads((tasks / DASHED / "task.json").read_text())
    write(tasks / DASHED / "task.json", {**document, "id": DASHED})
    write(old.project / "state.json", {"version": 1, "active_task_id": ""})
    return old


@pytest.mark.parametrize(
    "command",
    [
        "task show ID",
        "task switch ID",
        "task update ID --owner ada",
        "task close ID --force",
        "log -t ID",
        "log --task ID",
        "log -n 3 -t ID --format json",
        "status -t ID",
        "checkpoint -t ID",
        "run -t ID --no-tty -- true",
        "worktree keep ID",
        "worktree remove ID --force",
        "-q worktree remove --force ID",
        "show 2 -t ID",
        "path ID",
    ],
)
def test_such_an_id_is_given_like_any_other(dashed: Sandbox, command: str) -> None:
    dashed.siding(*[DASHED if word == "ID" else word for word in command.split()])


def test_such_a_task_gets_a_workspace_again(dashed: Sandbox) -> None:
    dashed.siding("worktree", "remove", DASHED, "--force")
    dashed.siding("task", "reopen", DASHED)
    dashed.siding("run", "-t", DASHED, "--no-tty", "--", "echo", DASHED)
    assert dashed.steps(DASHED)[-1]["cmd"] == ["echo", DASHED]


def test_a_word_that_is_no_such_id_is_an_option_as_ever(dashed: Sandbox) -> None:
    assert b"unrecognized" in dashed.siding("task", "show", "-b_C123b", status=2).stderr
    dashed.siding("task", "switch", DASHED)
    dashed.siding("log", "-n100000")


def append(old: Sandbox, *lines: dict[str, Any]) -> None:
    with (old.project / "tasks" / "a-b_C123" / "ledger.jsonl").open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def test_a_step_without_its_duration_took_as_long_as_its_times_say(old: Sandbox) -> None:
    assert b"exit 0, after 30s" in old.siding("show", "1").stdout
    assert b"30s" in old.siding("log").stdout.splitlines()[1]


def test_where_a_branch_was_before_an_apply_of_the_other_tool_is_not_made_up(old: Sandbox) -> None:
    append(
        old,
        {
            "step_id": "0004",
            "kind": "apply",
            "mode": "commit",
            "target_branch": "main",
            "commit_sha": "abc1234",
            "started_at": "2024-01-15T10:06:00Z",
            "ended_at": "2024-01-15T10:06:02Z",
        },
    )
    assert b"branch    main, to abc1234\n" in old.siding("show", "4").stdout


def test_steps_that_share_a_number_are_all_counted_and_shown(old: Sandbox) -> None:
    append(old, {**LEDGER[0], "step_id": "0002", "cmd": ["claude", "again"]})
    assert old.json("status", "--format", "json")["steps"] == 4
    newest = old.siding("show", "2")
    assert b"claude again" in newest.stdout
    assert b"the others are 2@2" in newest.stderr
    older = old.siding("show", "2@2")
    assert b"claude 'fix it'" in older.stdout
    assert b"Warning" in older.stdout
    assert b"others" not in older.stderr
    assert b"has no step '2@3'" in old.siding("show", "2@3", status=1).stderr
    assert b"is not a step" in old.siding("show", "2@x", status=2).stderr


def test_the_workspaces_of_the_other_tool_are_listed(old: Sandbox) -> None:
    (found,) = old.json("worktree", "list", "--format", "json")
    assert (found["task_id"], found["branch"]) == ("a-b_C123", "bar/fix-a-b_C123")


def test_a_task_whose_directory_is_gone_goes_on_from_its_branch(old: Sandbox) -> None:
    there = old.project / "workspaces" / "a-b_C123"
    old.git("add", "-A", cwd=there)
    old.git("commit", "-qm", "by the agent", cwd=there)
    tip = old.git("rev-parse", "bar/fix-a-b_C123").strip()
    shutil.rmtree(there)
    said = old.siding("run", "--no-tty", "--", "true", status=1).stderr
    assert b"siding worktree add a-b_C123" in said
    said = old.siding("worktree", "add", "a-b_C123").stderr
    assert b"bar/fix-a-b_C123-2" in said
    assert old.git("rev-parse", "bar/fix-a-b_C123").strip() == tip
    assert (there / "a.py").read_text() == "by the agent\n"
    old.siding("run", "--no-tty", "--", "sh", "-c", "echo more >more.txt")
    assert set(old.json("diff", "--format", "json")["file_list"]) == {"a.py", "more.txt"}
    old.siding("verify")
    old.siding("apply")
    assert (old.repo / "a.py").read_text() == "by the agent\n"
