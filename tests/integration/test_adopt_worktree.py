"""A worktree that git made becomes a task's workspace where it is, and nothing of it is lost."""

import json
import os
import shutil
from pathlib import Path

import pytest

from bwrap import needs_bwrap
from sandbox import Sandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def worktree(sandbox: Sandbox, name: str = "login", *, where: Path | None = None) -> Path:
    """Make a worktree with a commit, a staged, an uncommitted, an untracked and an ignored file."""
    path = where or sandbox.directory / f"repo-{name}"
    sandbox.git("worktree", "add", "-q", "-b", name, str(path))
    (path / "committed.txt").write_text("c\n")
    (path / ".gitignore").write_text("*.env\n")
    sandbox.git("add", "-A", cwd=path)
    sandbox.git("commit", "-qm", "work", cwd=path)
    (path / "hello.txt").write_text("changed\n")
    (path / "staged.txt").write_text("s\n")
    sandbox.git("add", "staged.txt", cwd=path)
    (path / "new.txt").write_text("n\n")
    (path / "secret.env").write_text("K=1\n")
    return path


def files(path: Path) -> dict[str, bytes]:
    return {
        str(each.relative_to(path)): each.read_bytes()
        for each in sorted(path.rglob("*"))
        if each.is_file()
    }


def refusal(sandbox: Sandbox, *arguments: str, status: int = 1, cwd: Path | None = None) -> str:
    done = sandbox.siding("worktree", "adopt", *arguments, status=status, cwd=cwd)
    said = done.stderr.decode()
    assert "hint:" in said
    return said


def test_an_adopted_worktree_stays_as_it_is_and_all_its_work_is_the_task(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    before, status = files(path), sandbox.git("status", "--porcelain", cwd=path)
    told = sandbox.json("worktree", "adopt", str(path), "--format", "json")
    assert (told["name"], told["branch"], told["workspace"]) == ("login", "login", str(path))
    assert told["base_commit"] == sandbox.git("rev-parse", "main")
    assert files(path) == before
    assert sandbox.git("status", "--porcelain", cwd=path) == status
    changed = sandbox.json("diff", "--format", "json")["file_list"]
    names = {".gitignore", "committed.txt", "hello.txt", "new.txt", "staged.txt"}
    assert set(changed) == names
    (step,) = sandbox.steps()
    assert (step["kind"], step["message"]) == ("checkpoint", "as adopted")
    events = [each["event"] for each in sandbox.json("worktree", "events", "--format", "json")]
    assert events.index("worktree.adopt.before") < events.index("worktree.adopt.after")


def test_the_base_is_where_the_branch_departed_even_if_main_moved_on(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    departed = sandbox.git("rev-parse", "main")
    (sandbox.repo / "later.txt").write_text("l\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "later")
    told = sandbox.json("worktree", "adopt", str(path), "--format", "json")
    assert told["base_commit"] == departed
    assert b"later.txt" not in sandbox.siding("diff", "--stat").stdout


def test_base_names_what_the_change_is_counted_from(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    told = sandbox.json("worktree", "adopt", str(path), "--base", "login", "--format", "json")
    assert told["base_commit"] == sandbox.git("rev-parse", "login")
    assert b"committed.txt" not in sandbox.siding("diff", "--stat").stdout


def test_commands_inside_find_the_task_and_the_checkout_is_another(sandbox: Sandbox) -> None:
    path = worktree(sandbox, where=sandbox.repo / ".claude" / "worktrees" / "login")
    sandbox.siding("worktree", "adopt", str(path), "--no-switch")
    sandbox.siding("task", "start", "other")
    (path / "sub").mkdir()
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", "pwd >where", cwd=path / "sub")
    assert (path / "sub" / "where").read_text().strip() == str(path / "sub")
    assert sandbox.json("status", "--format", "json", cwd=path)["task_name"] == "login"
    assert sandbox.json("status", "--format", "json")["task_name"] == "other"
    # A task that starts from inside starts from the main checkout, not from the workspace.
    told = sandbox.json("task", "start", "third", "--format", "json", cwd=path)
    assert told["start"]["base_ref"] == "main"


def test_going_back_to_the_state_as_adopted_brings_the_index_and_the_commits_back(
    sandbox: Sandbox,
) -> None:
    path = worktree(sandbox)
    sandbox.siding("worktree", "adopt", str(path))
    before, tip = files(path), sandbox.git("rev-parse", "login")
    status = sandbox.git("status", "--porcelain", cwd=path)
    damage = "git commit -qam more && rm committed.txt && echo x >new.txt"
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", damage)
    assert files(path) != before
    sandbox.siding("rollback", "--step", "1", "--force")
    assert files(path) == before
    assert sandbox.git("rev-parse", "login") == tip
    assert sandbox.git("status", "--porcelain", cwd=path) == status


def test_the_base_can_be_gone_back_to_and_undone(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    sandbox.siding("worktree", "adopt", str(path))
    before, tip = files(path), sandbox.git("rev-parse", "login")
    sandbox.siding("rollback", "--base", "--force")
    assert (path / "hello.txt").read_text() == "hello\n"
    assert not (path / "committed.txt").exists()
    sandbox.siding("undo")
    assert files(path) == before
    assert sandbox.git("rev-parse", "login") == tip


def test_the_change_is_applied_like_any_other(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    sandbox.siding("worktree", "adopt", str(path))
    sandbox.siding("apply", "-m", "the login")
    assert (sandbox.repo / "committed.txt").read_text() == "c\n"
    assert path.is_dir(), "an apply that closes the task leaves an adopted worktree in place"
    assert sandbox.git("worktree", "list", "--porcelain").count("worktree ") == 2


def test_a_planned_task_gets_the_worktree(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    sandbox.siding("task", "start", "planned", "--no-workspace", "--no-switch")
    sandbox.siding("worktree", "adopt", str(path), "-t", "planned")
    task = sandbox.json("task", "show", "planned", "--format", "json")
    assert task["status"] == "active"
    assert task["workspace"]["path"] == str(path)


@pytest.mark.parametrize("way", [[], ["--keep"]])
def test_closing_lets_it_stand_and_reopening_goes_on(sandbox: Sandbox, way: list[str]) -> None:
    path = worktree(sandbox)
    sandbox.siding("worktree", "adopt", str(path))
    before = files(path)
    said = sandbox.siding("task", "close", *way).stderr.decode()
    assert f"workspace kept: {path}" in said
    assert files(path) == before
    assert sandbox.git("rev-parse", "--abbrev-ref", "HEAD", cwd=path) == "login"
    sandbox.siding("task", "reopen", "login")
    sandbox.siding("run", "--no-tty", "-t", "login", "--", "true")


@pytest.mark.parametrize("act", [("worktree", "remove"), ("task", "close")])
def test_removing_moves_it_to_the_trash_and_reopening_puts_it_back_where_it_was(
    sandbox: Sandbox, act: tuple[str, str]
) -> None:
    path = worktree(sandbox)
    sandbox.siding("worktree", "adopt", str(path))
    before, status = files(path), sandbox.git("status", "--porcelain", cwd=path)
    if act[0] == "worktree":
        said = sandbox.siding(*act, status=1).stderr.decode()
        assert "only in its workspace" in said
        assert path.is_dir()
    sandbox.siding(*act, "--force")
    assert not path.exists()
    assert sandbox.git("worktree", "list", "--porcelain").count("worktree ") == 1
    sandbox.siding("task", "reopen", "login")
    assert files(path) == before
    assert sandbox.git("status", "--porcelain", cwd=path) == status


def test_gc_and_reopen_lay_it_out_again_at_its_place(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    sandbox.siding("worktree", "adopt", str(path))
    before = files(path)
    sandbox.siding("task", "close", "--force")
    sandbox.siding("gc", "--budget", "0")
    assert not list(sandbox.project.glob("trash/*/workspace"))
    sandbox.siding("task", "reopen", "login")
    assert files(path) == before


def test_a_worktree_that_git_was_told_not_to_move_is_not_moved(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    sandbox.siding("worktree", "adopt", str(path))
    sandbox.git("worktree", "lock", str(path))
    said = sandbox.siding("worktree", "remove", "--force", status=1).stderr.decode()
    assert "git worktree unlock" in said
    assert path.is_dir()
    sandbox.siding("task", "close")


def test_what_cannot_be_adopted_is_refused_with_the_reason(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    path = worktree(sandbox)
    (path / "sub").mkdir()
    assert "no directory" in refusal(sandbox, str(tmp_path / "nowhere"))
    assert "main checkout" in refusal(sandbox, str(sandbox.repo))
    assert "only a part of" in refusal(sandbox, str(path / "sub"))
    (tmp_path / "plain").mkdir()
    assert "not a worktree of git" in refusal(sandbox, str(tmp_path / "plain"))
    other = Sandbox(tmp_path / "other")
    assert "another repository" in refusal(sandbox, str(worktree(other)))
    bare = tmp_path / "bare.git"
    sandbox.git("clone", "-q", "--bare", str(sandbox.repo), str(bare))
    assert "another repository" in refusal(sandbox, str(bare))
    assert "only a part" in refusal(sandbox, str(sandbox.repo / ".git" / "worktrees"))
    sandbox.siding("worktree", "adopt", str(path))
    assert "· login (active)" in refusal(sandbox, str(path))
    assert "lies in the workspace of" in refusal(sandbox, str(path / "sub"))
    nested = worktree(sandbox, "nested", where=path / "wt")
    assert "lies in the workspace of" in refusal(sandbox, str(nested))
    own = sandbox.directory / "siding" / "projects"
    assert refusal(sandbox, str(own))
    sandbox.siding("task", "start", "ours", "--no-switch")
    assert "· ours (active)" in refusal(sandbox, str(sandbox.workspace("ours")))
    assert len(sandbox.json("task", "list", "--all", "--format", "json")) == 2


def test_heads_that_no_task_can_have_are_refused(sandbox: Sandbox) -> None:
    detached = sandbox.directory / "detached"
    sandbox.git("worktree", "add", "-q", "--detach", str(detached))
    assert "detached" in refusal(sandbox, str(detached))
    sandbox.git("switch", "-qc", "elsewhere")
    mine = sandbox.directory / "mine"
    sandbox.git("worktree", "add", "-q", str(mine), "main")
    sandbox.siding("init")
    (sandbox.project / "config.yaml").write_text("git:\n  default_base: main\n")
    assert "the base itself" in refusal(sandbox, str(mine), status=2)
    sandbox.git("switch", "-q", "--orphan", "unrelated", cwd=mine)
    assert "no commit yet" in refusal(sandbox, str(mine))
    (mine / "a").write_text("a")
    sandbox.git("add", "-A", cwd=mine)
    sandbox.git("commit", "-qm", "unrelated", cwd=mine)
    assert "no commit in common" in refusal(sandbox, str(mine), status=2)


def test_a_worktree_in_which_git_works_is_refused(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    lock = sandbox.repo / ".git/worktrees/repo-login/index.lock"
    lock.touch()
    assert "at work" in refusal(sandbox, str(path))
    lock.unlink()
    (lock.parent / "locked").write_text("initializing\n")
    assert "is making" in refusal(sandbox, str(path))


def test_a_task_that_has_a_workspace_or_had_one_gets_no_other(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    sandbox.siding("task", "start", "busy")
    assert "has a workspace already" in refusal(sandbox, str(path), "-t", "busy", status=2)
    sandbox.siding("worktree", "remove")
    assert "was removed" in refusal(sandbox, str(path), "-t", "busy", status=2)
    sandbox.siding("task", "close")
    assert "is closed" in refusal(sandbox, str(path), "-t", "busy", status=2)


def test_relative_pointers_of_newer_gits_are_understood(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    admin = sandbox.repo / ".git/worktrees/repo-login"
    (admin / "gitdir").write_text(os.path.relpath(path / ".git", admin) + "\n")
    (path / ".git").write_text(f"gitdir: {os.path.relpath(admin, path)}\n")
    sandbox.siding("worktree", "adopt", str(path))
    sandbox.siding("run", "--no-tty", "--", "true")
    assert "agrees" in sandbox.siding("doctor", "--check").stdout.decode()


def test_line_endings_that_git_converts_do_not_count_as_changes(sandbox: Sandbox) -> None:
    (sandbox.repo / ".gitattributes").write_text("*.txt text eol=crlf\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "endings")
    path = sandbox.directory / "wt"
    sandbox.git("worktree", "add", "-q", "-b", "crlf", str(path))
    assert (path / "hello.txt").read_bytes() == b"hello\r\n"
    (path / "one.txt").write_bytes(b"1\r\n")
    told = sandbox.siding("worktree", "adopt", str(path)).stderr.decode()
    assert "1 file changed since the base" in told


def test_the_registry_is_made_again_with_the_adopted_worktree(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    sandbox.siding("worktree", "adopt", str(path))
    (sandbox.project / "worktrees.json").unlink()
    sandbox.siding("doctor", status=None)
    (entry,) = json.loads((sandbox.project / "worktrees.json").read_text())["worktrees"]
    assert (entry["path"], entry["adopted"], entry["status"]) == (str(path), True, "active")
    sandbox.siding("run", "--no-tty", "--", "true", cwd=path)
    assert b"committed.txt" in sandbox.siding("diff", "--stat").stdout


def test_a_moved_repository_takes_the_worktree_inside_it_along(sandbox: Sandbox) -> None:
    worktree(sandbox, where=sandbox.repo / ".worktrees" / "login")
    outside = worktree(sandbox, "outside")
    sandbox.siding("worktree", "adopt", str(sandbox.repo / ".worktrees" / "login"))
    sandbox.siding("worktree", "adopt", str(outside))
    moved = sandbox.directory / "moved"
    sandbox.repo.rename(moved)
    sandbox.siding("run", "--no-tty", "-t", "login", "--", "true", cwd=moved)
    sandbox.siding("run", "--no-tty", "-t", "outside", "--", "true", cwd=moved)
    found = sandbox.json("status", "--format", "json", cwd=moved / ".worktrees" / "login")
    assert found["task_name"] == "login"
    assert sandbox.git("status", "--porcelain", cwd=outside)


def test_a_directory_that_is_gone_is_found_and_reopened_from_its_snapshot(
    sandbox: Sandbox,
) -> None:
    path = worktree(sandbox)
    sandbox.siding("worktree", "adopt", str(path))
    shutil.rmtree(path)
    assert "is gone" in sandbox.siding("doctor", "--check", status=None).stdout.decode()
    sandbox.siding("doctor", status=None)
    sandbox.siding("task", "reopen", "login")
    assert (path / "new.txt").read_text() == "n\n"


def test_other_worktrees_of_the_person_are_let_alone(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "active one")
    path = worktree(sandbox)
    assert sandbox.json("status", "--format", "json", cwd=path)["task_name"] == "active one"
    assert "agrees" in sandbox.siding("doctor", "--check").stdout.decode()


def test_a_worktree_of_a_bare_repository(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    bare = tmp_path / "bare.git"
    sandbox.git("clone", "-q", "--bare", str(sandbox.repo), str(bare))
    path = tmp_path / "feature"
    sandbox.git("worktree", "add", "-q", "-b", "feature", str(path), cwd=bare)
    (path / "f").write_text("f")
    sandbox.siding("worktree", "adopt", str(path), cwd=bare)
    sandbox.siding("run", "--no-tty", "--", "true", cwd=path)
    sandbox.siding("apply", "-m", "x", cwd=bare)
    assert sandbox.git("cat-file", "-p", "main:f", cwd=bare) == "f"


@pytest.mark.parametrize("inside", [False, True], ids=["beside", "inside the checkout"])
def test_a_run_there_alarms_nobody(sandbox: Sandbox, inside: bool) -> None:
    where = sandbox.repo / ".worktrees" / "login" if inside else None
    path = worktree(sandbox, where=where)
    sandbox.siding("worktree", "adopt", str(path))
    script = "echo 1 >>new.txt && mkdir -p d && echo 2 >d/e && git add -A && git commit -qm x"
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", script, cwd=path)
    step = sandbox.steps()[-1]
    assert [each for each in step["isolation"]["changes"] if each["weight"] == "alarm"] == []


@needs_bwrap
@pytest.mark.parametrize("inside", [False, True], ids=["beside", "inside the checkout"])
def test_a_sandboxed_run_may_write_there_and_nowhere_else(sandbox: Sandbox, inside: bool) -> None:
    where = sandbox.repo / ".worktrees" / "login" if inside else None
    path = worktree(sandbox, where=where)
    sandbox.siding("worktree", "adopt", str(path))
    script = f"echo 2 >>new.txt && git add -A && git commit -qm inside; touch {sandbox.repo}/out"
    sandbox.siding("run", "--no-tty", "--sandbox", "--", "sh", "-c", script, status=None)
    assert (path / "new.txt").read_text() == "n\n2\n"
    assert sandbox.git("log", "-1", "--format=%s", "login") == "inside"
    assert not (sandbox.repo / "out").exists()


def test_its_branch_goes_through_the_phases(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    sandbox.siding("worktree", "adopt", str(path))
    sandbox.siding("phase", "start", "impl", "go", cwd=path)
    assert sandbox.git("log", "-1", "--format=%s", "login") == "[siding] impl: go"
    assert sandbox.git("status", "--porcelain", cwd=path) == ""


def test_an_adoption_that_was_cut_off_is_taken_back(sandbox: Sandbox) -> None:
    path = worktree(sandbox)
    sandbox.siding("task", "start", "planned", "--no-workspace")
    sandbox.siding("worktree", "adopt", str(path), "-t", "planned")
    # What the disk has when the command is killed before the workspace is bound to the task.
    registry = sandbox.project / "worktrees.json"
    document = json.loads(registry.read_text())
    (entry,) = document["worktrees"]
    entry |= {"status": "absent", "intent": {"op": "adopt", "at": entry["created_at"], "pid": 1}}
    del entry["base_snapshot"]
    registry.write_text(json.dumps(document))
    (task_json,) = sandbox.project.glob("tasks/*/task.json")
    task = json.loads(task_json.read_text())
    pending = {"status": "pending", "branch": "", "worktree": "", "workspace_path": ""}
    task_json.write_text(json.dumps({**task, **pending}))
    (task_json.parent / "ledger.jsonl").unlink()
    before = files(path)
    sandbox.siding("task", "start", "another", "--no-switch")
    assert files(path) == before
    events = sandbox.json("worktree", "events", "--format", "json")
    (failed,) = [each for each in events if each["event"] == "worktree.adopt.failed"]
    assert failed["recovered"] is True
    told = sandbox.json("worktree", "adopt", str(path), "-t", "planned", "--format", "json")
    assert told["workspace"] == str(path)
    assert b"committed.txt" in sandbox.siding("diff", "--stat").stdout


def test_its_branch_is_the_persons_and_stays(sandbox: Sandbox) -> None:
    path = sandbox.directory / "login"
    sandbox.git("worktree", "add", "-q", "-b", "login", str(path))
    told = sandbox.json("worktree", "adopt", str(path), "--format", "json")
    sandbox.siding("task", "close", "--force")
    sandbox.siding("gc", "--budget", "0")
    assert not path.exists()
    assert sandbox.git("rev-parse", "login") == told["base_commit"]
