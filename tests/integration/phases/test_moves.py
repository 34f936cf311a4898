"""Moves through the phases in real repositories: what is committed, and what is never touched."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from prepared import prepared
from sandbox import SIDING, Sandbox


def _task(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "T")
    sandbox.siding("phase", "start", "impl", "begin")


@pytest.fixture
def task() -> Sandbox:
    return prepared(_task)


def step(sandbox: Sandbox, summary: str = "work") -> str:
    """Make a move; return its commit."""
    return str(sandbox.json("phase", "next-step", summary, "--json")["git_commit"])


def test_a_move_commits_what_is_there_as_git_would(task: Sandbox) -> None:
    root = task.workspace()
    (root / "hello.txt").unlink()
    (root / "src/a.py").write_text("a = 2\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("src/a.py")
    (root / ".gitignore").write_text("*.log\n")
    (root / "x.log").write_text("noise\n")
    sha = step(task)
    assert task.git("rev-parse", "HEAD", cwd=root) == sha
    assert task.git("status", "--porcelain", cwd=root) == ""
    listed = task.git("ls-tree", "-r", "--format=%(objectmode) %(path)", "HEAD", cwd=root)
    assert listed.splitlines() == [
        "100644 .gitignore",
        "120000 link",
        "100755 run.sh",
        "100644 src/a.py",
    ]
    assert task.git("log", "-1", "--format=%an <%ae>|%s", cwd=root) == (
        "Ada <ada@example.org>|[siding] impl: work"
    )
    assert (root / "x.log").exists()


def test_line_endings_are_stored_as_the_persons_git_stores_them(sandbox: Sandbox) -> None:
    sandbox.git("config", "--global", "core.autocrlf", "true")
    sandbox.siding("task", "start", "T")
    sandbox.siding("phase", "start", "impl", "begin")
    root = sandbox.workspace()
    (root / "new.txt").write_bytes(b"one\r\ntwo\r\n")
    step(sandbox)
    assert sandbox.git("cat-file", "-s", "HEAD:new.txt", cwd=root) == "8"
    assert sandbox.git("status", "--porcelain", cwd=root) == ""


def test_nothing_of_the_workspace_or_the_repository_runs(task: Sandbox) -> None:
    """Hooks, filters, fsmonitor, signing: each would leave a trace."""
    root, canary = task.workspace(), task.directory / "canary"
    trap = f"#!/bin/sh\necho $0 >>{canary}\n"
    hooks = task.repo / ".git/hooks"
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "prepare-commit-msg",
        "post-checkout",
    ):
        (hooks / name).write_text(trap)
        (hooks / name).chmod(0o755)
    program = task.directory / "trap.sh"
    program.write_text(trap + "cat\n")
    program.chmod(0o755)
    for key in (
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "core.fsmonitor",
        "gpg.program",
        "diff.evil.textconv",
    ):
        task.git("config", key, str(program))
    task.git("config", "commit.gpgSign", "true")
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (root / "hello.txt").write_text("changed\n")
    refused = task.siding("phase", "next-step", "work", status=5)
    assert b"hello.txt go through the filter 'evil'" in refused.stderr
    (root / ".gitattributes").write_text("* diff=evil\n")
    step(task)
    task.siding("phase", "issue", "more")
    assert not canary.exists(), canary.read_text()


def test_the_persons_own_checkout_sees_nothing_of_it(task: Sandbox) -> None:
    (task.repo / "staged.txt").write_text("staged\n")
    task.git("add", "staged.txt")
    (task.repo / "hello.txt").write_text("not staged\n")
    before = (task.repo / ".git/index").read_bytes()
    refs = task.git("for-each-ref", "refs/heads/main", "refs/stash", "refs/tags")
    (task.workspace() / "new").write_text("new\n")
    step(task)
    assert (task.repo / ".git/index").read_bytes() == before
    assert task.git("for-each-ref", "refs/heads/main", "refs/stash", "refs/tags") == refs
    assert task.git("status", "--porcelain").splitlines() == ["M hello.txt", "A  staged.txt"]


def test_a_repository_within_stays_one_and_its_files_stay_out(task: Sandbox) -> None:
    root = task.workspace()
    inner = root / "vendor"
    inner.mkdir()
    task.git("init", "-q", cwd=inner)
    (inner / "f").write_text("f\n")
    (root / "new").write_text("new\n")
    step(task)
    assert "vendor" not in task.git("ls-tree", "--name-only", "HEAD", cwd=root).split()
    assert (inner / "f").read_text() == "f\n"


def test_the_agents_own_commits_and_staging_are_built_upon(task: Sandbox) -> None:
    root = task.workspace()
    (root / "one").write_text("one\n")
    task.git("add", "one", cwd=root)
    task.git("commit", "-qm", "the agent's own", cwd=root)
    (root / "two").write_text("two\n")
    task.git("add", "two", cwd=root)
    (root / "two").write_text("two, and more\n")
    step(task)
    assert task.git("show", "HEAD:two", cwd=root) == "two, and more"
    assert task.git("log", "--format=%s", "-2", cwd=root).splitlines() == [
        "[siding] impl: work",
        "the agent's own",
    ]
    assert task.git("status", "--porcelain", cwd=root) == ""


def test_a_move_without_a_change_is_a_commit_all_the_same(task: Sandbox) -> None:
    root = task.workspace()
    before = task.git("rev-parse", "HEAD^{tree}", cwd=root)
    step(task, "looked at it")
    assert task.git("rev-parse", "HEAD^{tree}", cwd=root) == before
    assert task.git("log", "-1", "--format=%s", cwd=root) == "[siding] impl: looked at it"


@pytest.mark.parametrize("what", ["detached", "branch", "identity", "lock", "merge"])
def test_what_cannot_be_committed_has_not_happened(task: Sandbox, what: str) -> None:
    root = task.workspace()
    (root / "new").write_text("new\n")
    env = {}
    if what == "detached":
        task.git("switch", "-q", "--detach", cwd=root)
    elif what == "branch":
        task.git("switch", "-qc", "other", cwd=root)
    elif what == "identity":
        env = {"GIT_AUTHOR_NAME": "", "GIT_COMMITTER_NAME": ""}
        task.git("config", "user.useConfigOnly", "true")
        task.git("config", "user.name", "")
    elif what == "lock":
        name = task.git("branch", "--show-current", cwd=root)
        (task.repo / ".git/refs/heads" / f"{name}.lock").write_text("")
    else:
        (status,) = task.project.glob("tasks/*/flow-status.json")
        status.write_text("{")
    files = {path: path.read_bytes() for path in task.project.glob("tasks/*/flow-status*.json")}
    head = task.git("rev-parse", "HEAD", cwd=root)
    done = task.siding("phase", "next-step", "work", status=None, env=env)
    assert done.returncode == 1, done
    assert task.git("rev-parse", "HEAD", cwd=root) == head
    assert {p: p.read_bytes() for p in task.project.glob("tasks/*/flow-status*.json")} == files
    assert not list(task.project.glob("tasks/*/phase-intent.json"))
    assert (root / "new").exists()


def test_a_git_at_work_keeps_its_index_and_the_commit_stands(task: Sandbox) -> None:
    root = task.workspace()
    (root / "new").write_text("new\n")
    git_dir = Path(task.git("rev-parse", "--absolute-git-dir", cwd=root))
    (git_dir / "index.lock").write_text("")
    done = task.siding("phase", "next-step", "work")
    assert b"the workspace's index could not follow" in done.stderr
    (git_dir / "index.lock").unlink()
    assert task.git("show", "HEAD:new", cwd=root) == "new"
    task.git("reset", "-q", cwd=root)
    assert task.git("status", "--porcelain", cwd=root) == ""


def test_many_moves_at_once_are_one_after_the_other(task: Sandbox) -> None:
    root = task.workspace()
    movers = [
        subprocess.Popen(
            [*SIDING, "phase", "next-step", f"m{number}", "--wait"],
            cwd=task.repo,
            env=task.env,
            stderr=subprocess.PIPE,
        )
        for number in range(5)
    ]
    said = [mover.communicate(timeout=60)[1] for mover in movers]
    assert [mover.returncode for mover in movers] == [0] * 5, said
    record = task.json("phase", "status", "--json")
    assert [each["step"] for each in record["history"]] == [1, 2, 3, 4, 5, 6]
    commits = task.git("log", "--format=%H", "-6", cwd=root).split()
    assert [each["git_commit"] for each in reversed(record["history"])] == commits
    assert {each["summary"] for each in record["history"][1:]} == {f"m{n}" for n in range(5)}


def test_moves_from_inside_a_run_are_steps_of_their_own(task: Sandbox) -> None:
    script = "echo 1 >new; siding -q phase next-step one; siding -q phase issue two"
    task.siding("run", "--no-tty", "--", "sh", "-c", script)
    record = task.json("phase", "status", "--json")
    assert [each["action"] for each in record["history"]] == ["start", "next-step", "issue"]
    steps = [each for each in task.steps() if each["kind"] != "phase" or each.get("beside")]
    assert [each["kind"] for each in steps[-4:]] == ["checkpoint", "phase", "phase", "run"]
    assert steps[-4]["diff_stat"]["file_list"] == ["new"]
    assert [each.get("beside") for each in steps[-4:]] == [["r1"], ["r1"], ["r1"], None]
    proof = task.json("verify", "--format", "json")
    assert proof["whole"], proof


def test_what_the_phases_committed_is_applied_and_undone_like_any_work(task: Sandbox) -> None:
    (task.workspace() / "new").write_text("new\n")
    step(task)
    (task.workspace() / "hello.txt").write_text("later\n")
    task.siding("apply", "--no-close")
    assert (task.repo / "new").read_text() == "new\n"
    assert (task.repo / "hello.txt").read_text() == "later\n"
    assert task.git("status", "--porcelain") == ""


def test_a_seeds_reader_reads_the_status(task: Sandbox) -> None:
    step(task)
    (path,) = task.project.glob("tasks/*/flow-status.json")
    document = json.loads(path.read_bytes())
    assert isinstance(document["task_id"], str)
    assert isinstance(document["current_phase"], str)
    assert isinstance(document["current_step"], int)
    assert document["started_at"] == document["history"][0]["timestamp"]
    for each in document["history"]:
        assert each.keys() >= {"timestamp", "action", "phase", "step", "summary"}
        assert len(each["git_commit"]) == 40
    assert oct(os.stat(path).st_mode & 0o777) == "0o600"
