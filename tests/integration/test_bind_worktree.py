"""A workspace goes from one task to another; the steps stay with the task that made them."""

import json
from pathlib import Path

import pytest

from sandbox import Sandbox

WORK = "echo a >a.txt && git add -A && git commit -qm 'work of a' && echo b >b.txt && echo 1 >c.log"


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """A task `a` with a commit, an untracked and an ignored file, and a planned task `b`."""
    made = Sandbox(tmp_path, files={"hello.txt": "hello\n", ".gitignore": "*.log\n"})
    made.siding("task", "start", "b", "--no-workspace", "--no-switch")
    made.siding("task", "start", "a")
    made.siding("run", "--no-tty", "--", "sh", "-c", WORK)
    return made


def shown(sandbox: Sandbox, task: str) -> dict[str, object]:
    found = sandbox.json("task", "show", task, "--format", "json")
    assert isinstance(found, dict)
    return found


def stat(sandbox: Sandbox, task: str) -> set[str]:
    return set(sandbox.json("diff", "-t", task, "--format", "json")["file_list"])


def test_the_directory_stays_and_the_new_task_begins_with_what_is_in_it(sandbox: Sandbox) -> None:
    path = sandbox.workspace("a")
    tip = sandbox.git("rev-parse", "HEAD", cwd=path)
    (path / "unrecorded.txt").write_text("u\n")
    sandbox.siding("worktree", "bind", "b", "--worktree", "a")
    assert sandbox.workspace("b") == path
    assert (path / "c.log").read_text() == "1\n"
    assert (path / "unrecorded.txt").read_text() == "u\n"
    assert shown(sandbox, "b")["status"] == "active"
    assert shown(sandbox, "b")["base_commit"] == tip
    assert stat(sandbox, "b") == set()
    sandbox.siding("run", "--no-tty", "-t", "b", "--", "sh", "-c", "echo 2 >mine.txt")
    assert stat(sandbox, "b") == {"mine.txt"}
    assert [step["kind"] for step in sandbox.steps("a")] == ["run", "checkpoint", "checkpoint"]
    assert sandbox.json("status", "--format", "json", cwd=path)["task_name"] == "b"


def test_neither_branch_gets_the_others_commits(sandbox: Sandbox) -> None:
    path = sandbox.workspace("a")
    branch = str(shown(sandbox, "a")["branch"])
    tip = sandbox.git("rev-parse", branch)
    sandbox.siding("worktree", "bind", "b", cwd=path)
    sandbox.siding("run", "--no-tty", "--", "git", "commit", "--allow-empty", "-qm", "x", cwd=path)
    assert sandbox.git("rev-parse", branch) == tip
    mine = str(shown(sandbox, "b")["branch"])
    assert mine.startswith("siding/b-")
    assert sandbox.git("log", "-1", "--format=%s", mine) == "x"


def test_the_old_task_goes_on_in_a_new_workspace_from_its_last_state(sandbox: Sandbox) -> None:
    path = sandbox.workspace("a")
    (path / "unrecorded.txt").write_text("u\n")
    branch = str(shown(sandbox, "a")["branch"])
    sandbox.siding("worktree", "bind", "b", "--worktree", str(path))
    said = sandbox.siding("run", "--no-tty", "-t", "a", "--", "true", status=None).stderr.decode()
    assert "was given to task" in said
    assert "siding task reopen" in said
    (path / "a.txt").write_text("changed by b\n")
    sandbox.siding("task", "reopen", "a")
    again = sandbox.workspace("a")
    assert again != path
    names = {each.name: each.read_text() for each in again.iterdir() if each.suffix == ".txt"}
    assert names == {
        "a.txt": "a\n",
        "b.txt": "b\n",
        "hello.txt": "hello\n",
        "unrecorded.txt": "u\n",
    }
    assert sandbox.git("rev-parse", "--abbrev-ref", "HEAD", cwd=again) == branch
    assert stat(sandbox, "a") == {"a.txt", "b.txt", "unrecorded.txt"}
    sandbox.siding("run", "--no-tty", "--", "true", cwd=again)
    assert sandbox.json("status", "--format", "json", cwd=again)["task_name"] == "a"
    assert sandbox.json("status", "--format", "json", cwd=path)["task_name"] == "b"
    assert b"agrees" in sandbox.siding("doctor", "--check").stdout


def test_the_old_task_can_still_be_looked_at_and_applied_after_reopening(sandbox: Sandbox) -> None:
    sandbox.siding("worktree", "bind", "b", "--worktree", "a")
    sandbox.siding("verify", "a")
    assert stat(sandbox, "a") == {"a.txt", "b.txt"}
    sandbox.siding("task", "reopen", "a")
    sandbox.siding("apply", "-t", "a", "-m", "a")
    assert (sandbox.repo / "b.txt").read_text() == "b\n"
    sandbox.siding("run", "--no-tty", "-t", "b", "--", "sh", "-c", "echo 2 >mine.txt")
    sandbox.siding("apply", "-t", "b", "-m", "b")
    assert (sandbox.repo / "mine.txt").read_text() == "2\n"


def test_applying_the_new_task_alone_brings_only_its_own_work(sandbox: Sandbox) -> None:
    sandbox.siding("worktree", "bind", "b", "--worktree", "a")
    sandbox.siding("run", "--no-tty", "-t", "b", "--", "sh", "-c", "echo 2 >mine.txt")
    sandbox.siding("apply", "-t", "b", "-m", "b")
    assert (sandbox.repo / "mine.txt").is_file()
    assert not (sandbox.repo / "a.txt").exists()


def test_with_work_makes_the_work_so_far_the_new_tasks(sandbox: Sandbox) -> None:
    sandbox.siding("worktree", "bind", "b", "--worktree", "a", "--with-work")
    assert stat(sandbox, "b") == {"a.txt", "b.txt"}
    assert shown(sandbox, "b")["base_commit"] == sandbox.git("rev-parse", "main")
    (step,) = sandbox.steps("b")
    assert step["message"].startswith("taken along from task")
    sandbox.siding("apply", "-t", "b", "-m", "b")
    assert (sandbox.repo / "a.txt").read_text() == "a\n"


def test_with_work_takes_the_base_along_that_a_sync_has_moved(sandbox: Sandbox) -> None:
    (sandbox.repo / "later.txt").write_text("l\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "later")
    sandbox.siding("sync", "-t", "a")
    sandbox.siding("worktree", "bind", "b", "--worktree", "a", "--with-work")
    assert stat(sandbox, "b") == {"a.txt", "b.txt"}
    assert shown(sandbox, "b")["base_commit"] == sandbox.git("rev-parse", "main")


def test_an_adopted_worktree_can_be_bound_to_another_task(sandbox: Sandbox) -> None:
    path = sandbox.directory / "login"
    sandbox.git("worktree", "add", "-q", "-b", "login", str(path))
    (path / "work").write_text("w")
    sandbox.siding("worktree", "adopt", str(path))
    sandbox.siding("worktree", "bind", "b", "--worktree", "login")
    assert sandbox.workspace("b") == path
    assert sandbox.json("status", "--format", "json", cwd=path)["task_name"] == "b"
    sandbox.siding("task", "close", "b")
    assert path.is_dir()
    sandbox.siding("task", "reopen", "login")
    assert (sandbox.workspace("login") / "work").read_text() == "w"


def test_a_branch_that_was_made_for_the_task_goes_with_it(sandbox: Sandbox) -> None:
    path = sandbox.directory / "login"
    sandbox.git("worktree", "add", "-q", "-b", "login", str(path))
    sandbox.siding("worktree", "adopt", str(path))
    sandbox.siding("worktree", "bind", "b", "--worktree", "login")
    branch = shown(sandbox, "b")["branch"]
    listed = sandbox.siding("worktree", "list", "--all").stdout.decode()
    assert f"(task {shown(sandbox, 'b')['id']} has it)" in listed
    for _ in range(2):
        told = sandbox.siding("worktree", "remove", "b").stderr.decode()
        assert f"branch {branch} deleted: nothing on it" in told
        sandbox.siding("task", "reopen", "b")
        assert sandbox.git("branch", "--list", str(branch)).strip()
    # What the worktree came with is kept, also after it was given on.
    sandbox.siding("task", "start", "c", "--no-workspace", "--no-switch")
    sandbox.siding("worktree", "bind", "c", "--worktree", "b")
    for task in ("b", "login"):
        sandbox.siding("task", "close", task, "--force")
    sandbox.siding("gc")
    assert not sandbox.git("branch", "--list", str(branch)).strip()
    assert sandbox.git("branch", "--list", "login").strip()


def test_back_and_forth(sandbox: Sandbox) -> None:
    path = sandbox.workspace("a")
    sandbox.siding("worktree", "bind", "b", "--worktree", "a")
    sandbox.siding("worktree", "bind", "a", "--worktree", "b")
    assert sandbox.workspace("a") == path
    sandbox.siding("task", "reopen", "b")
    assert sandbox.workspace("b") != path
    sandbox.siding("run", "--no-tty", "-t", "a", "--", "true")
    sandbox.siding("run", "--no-tty", "-t", "b", "--", "true")
    assert b"agrees" in sandbox.siding("doctor", "--check").stdout
    for task in ("a", "b"):
        sandbox.siding("verify", task)
        sandbox.siding("task", "close", task, "--force")
        sandbox.siding("task", "reopen", task)


def refused(sandbox: Sandbox, *arguments: str, status: int = 2) -> str:
    before = (sandbox.project / "worktrees.json").read_bytes()
    said = sandbox.siding("worktree", "bind", *arguments, status=status).stderr.decode()
    assert (sandbox.project / "worktrees.json").read_bytes() == before
    return said


def test_what_cannot_be_bound_is_refused(sandbox: Sandbox) -> None:
    path = sandbox.workspace("a")
    assert "already" in refused(sandbox, "a", "--worktree", "a")
    assert "which workspace" in refused(sandbox, "a")
    assert "no workspace 'zzz'" in refused(sandbox, "b", "--worktree", "zzz", status=1)
    assert "no workspace yet" in refused(sandbox, "a", "--worktree", "b", status=1)
    sandbox.siding("task", "start", "busy", "--no-switch")
    assert "has a workspace already" in refused(sandbox, "busy", "--worktree", "a")
    sandbox.siding("task", "close", "busy")
    assert "is closed" in refused(sandbox, "busy", "--worktree", "a")
    sandbox.git("checkout", "-q", "-b", "other", "main", cwd=path)
    (path / "hello.txt").write_text("other\n")
    sandbox.git("commit", "-qam", "other", cwd=path)
    (path / "hello.txt").write_text("mine\n")
    sandbox.git("stash", "-q", cwd=path)
    (path / "hello.txt").write_text("theirs\n")
    sandbox.git("commit", "-qam", "theirs", cwd=path)
    sandbox.siding("-C", str(path), "run", "--no-tty", "--", "git", "stash", "pop", status=None)
    assert "nothing was changed" in refused(sandbox, "b", "--worktree", "a", status=1)


@pytest.mark.parametrize("moment", ["the branch is made", "the workspace is carried over"])
def test_a_binding_that_was_cut_off_is_finished_or_taken_back(
    sandbox: Sandbox, moment: str
) -> None:
    path = sandbox.workspace("a")
    branch = str(shown(sandbox, "a")["branch"])
    a_id, b_id = str(shown(sandbox, "a")["id"]), str(shown(sandbox, "b")["id"])
    registry = sandbox.project / "worktrees.json"
    if moment == "the branch is made":
        (entry,) = json.loads(registry.read_text())["worktrees"]
        intent = {"op": "bind", "to": b_id, "branch": "siding/b-new", "at": "", "pid": 1}
        entry["intent"] = intent
        registry.write_text(json.dumps({"version": 1, "worktrees": [entry]}))
        sandbox.git("checkout", "-q", "-b", "siding/b-new", cwd=path)
    else:
        tasks = {each: sandbox.project / "tasks" / each / "task.json" for each in (a_id, b_id)}
        before = {each: file.read_bytes() for each, file in tasks.items()}
        sandbox.siding("worktree", "bind", "b", "--worktree", "a", "--no-switch")
        document = json.loads(registry.read_text())
        (entry,) = [each for each in document["worktrees"] if each["task_id"] == b_id]
        entry["intent"] = {"op": "bind", "from": a_id, "base_ref": "main", "at": "", "pid": 1}
        entry["base_snapshot"] = ""
        registry.write_text(json.dumps(document))
        for each, file in tasks.items():
            file.write_bytes(before[each])
    sandbox.siding("task", "start", "another", "--no-switch")
    owner = "a" if moment == "the branch is made" else "b"
    assert sandbox.workspace(owner) == path
    sandbox.siding("run", "--no-tty", "-t", owner, "--", "true")
    if owner == "a":
        assert sandbox.git("rev-parse", "--abbrev-ref", "HEAD", cwd=path) == branch
        assert "siding/b-new" not in sandbox.git("branch")
        sandbox.siding("worktree", "bind", "b", "--worktree", "a")
    assert shown(sandbox, "a")["worktree"] == ""
    assert b"agrees" in sandbox.siding("doctor", "--check").stdout


def test_a_lost_registry_is_made_again(sandbox: Sandbox) -> None:
    path = sandbox.workspace("a")
    sandbox.siding("worktree", "bind", "b", "--worktree", "a")
    sandbox.siding("run", "--no-tty", "-t", "b", "--", "sh", "-c", "echo 2 >mine.txt")
    (sandbox.project / "worktrees.json").unlink()
    sandbox.siding("run", "--no-tty", "-t", "b", "--", "true")
    assert sandbox.workspace("b") == path
    assert stat(sandbox, "b") == {"mine.txt"}
    sandbox.siding("task", "reopen", "a")
    assert (sandbox.workspace("a") / "b.txt").read_text() == "b\n"


def test_a_moved_home_takes_it_along(sandbox: Sandbox) -> None:
    sandbox.siding("worktree", "bind", "b", "--worktree", "a")
    sandbox.siding("task", "reopen", "a")
    (sandbox.directory / "siding").rename(sandbox.directory / "elsewhere")
    sandbox.env["SIDING_HOME"] = str(sandbox.directory / "elsewhere")
    sandbox.siding("doctor", status=None)
    for task in ("a", "b"):
        sandbox.siding("run", "--no-tty", "-t", task, "--", "true")


def test_a_task_that_waits_for_another_one_gets_no_workspace(sandbox: Sandbox) -> None:
    sandbox.siding("task", "update", "b", "--blocked-by", "a")
    assert "blocked by" in refused(sandbox, "b", "--worktree", "a", status=1)
    newest = sandbox.json("worktree", "events", "--format", "json")[-1]
    assert (newest["event"], newest["refused"]) == ("worktree.bind.failed", True)
    path = sandbox.directory / "login"
    sandbox.git("worktree", "add", "-q", "-b", "login", str(path))
    said = sandbox.siding("worktree", "adopt", str(path), "-t", "b", status=1).stderr.decode()
    assert "blocked by" in said
    sandbox.siding("worktree", "bind", "b", "--worktree", "a", "--force")


def test_a_task_moves_to_another_worktree_and_its_own_one_stays(sandbox: Sandbox) -> None:
    first = sandbox.workspace("a")
    (first / "left").write_text("l")
    sandbox.siding("worktree", "add", "b", "--name", "second")
    second = sandbox.workspace("b")
    assert second == sandbox.workspace("second")  # the name is a reference
    for _ in range(2):  # there, and with the places changed
        left = sandbox.siding("-q", "worktree", "unbind", "a", "--name", "rest").stdout.decode()
        assert (first / "left").read_text() == "l"
        assert sandbox.workspace(left.strip()) == first
        sandbox.siding("worktree", "bind", "a", "--worktree", "second")
        assert sandbox.workspace("a") == sandbox.workspace("second") == second
        sandbox.siding("run", "--no-tty", "-t", "a", "--", "true")
        sandbox.siding("worktree", "unbind", "a", "--name", "b")
        sandbox.siding("worktree", "bind", "a", "--worktree", left.strip())
        assert sandbox.workspace("a") == first
        sandbox.siding("verify", "a")
    assert b"agrees" in sandbox.siding("doctor", "--check").stdout


def test_what_cannot_be_left_or_named_is_refused(sandbox: Sandbox) -> None:
    def told(*words: str, status: int = 2) -> str:
        return sandbox.siding("worktree", *words, status=status).stderr.decode()

    assert "no workspace" in told("unbind", "b", status=1)
    assert "cannot name a task" in told("unbind", "a", "--name", " ")
    assert "cannot name a worktree" in told("add", "b", "--name", "\n")
    sandbox.siding("worktree", "add", "b", "--name", "second")
    sandbox.siding("task", "start", "c", "--no-workspace", "--no-switch")
    assert "there is a worktree 'second' already" in told("add", "c", "--name", "second")
    assert "siding worktree unbind" in told("bind", "b", "--worktree", "a")
    assert len(sandbox.json("task", "list", "--json")) == 3
