"""A home written by the bar tool opens as it is, and goes on."""

import hashlib
import json
from pathlib import Path

import pytest

from sandbox import Sandbox

LEDGER = [
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


def test_an_id_that_begins_with_a_dash(old: Sandbox) -> None:
    tasks, workspaces = old.project / "tasks", old.project / "workspaces"
    (tasks / "a-b_C123").rename(tasks / "-b_C123a")
    old.git("worktree", "move", str(workspaces / "a-b_C123"), str(workspaces / "-b_C123a"))
    document = json.loads((tasks / "-b_C123a" / "task.json").read_text())
    write(tasks / "-b_C123a" / "task.json", {**document, "id": "-b_C123a"})
    write(old.project / "state.json", {"version": 1, "active_task_id": "-b_C123a"})
    old.siding("run", "--no-tty", "--", "true")
    assert old.json("diff", "--format", "json")["file_list"] == ["a.py"]


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
