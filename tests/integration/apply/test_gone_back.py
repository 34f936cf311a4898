"""After a rollback nothing that was gone back from is published: no commit, no message, no file.

A rollback takes HEAD and the task's branch along, so that the agent's commits are not in its
history any more. One of files alone leaves them there: most of these are about that.
"""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import Sandbox

from .conftest import Stage

SECRET = "key-of-the-vault"
BAD = f"echo {SECRET} >>text.txt; git commit -qam 'oops {SECRET}'"
GOOD = "echo good >good.txt; git add -A; git commit -qm good"


def siding(stage: Stage, *arguments: str, status: int = 0) -> str:
    verb, *rest = arguments
    done = stage.box.siding(verb, "-t", stage.task, *rest, status=status)
    return (done.stdout + done.stderr).decode()


def log_of(stage: Stage, revision: str = "main", cwd: Path | None = None) -> str:
    """Return everything that a history shows: messages and contents."""
    return stage.git("log", "-p", "-m", "--root", revision, cwd=cwd)


@pytest.mark.parametrize("mode", ["commit", "merge", "rebase", "squash"])
def test_a_rollback_takes_the_branch_along(stage: Stage, mode: str) -> None:
    stage.agent("echo kept >kept.txt; git add -A; git commit -qm kept")
    stage.agent(BAD)
    siding(stage, "rollback", "--step", "1")
    assert SECRET not in log_of(stage, "HEAD", cwd=stage.workspace)
    stage.agent(GOOD)
    plan = json.loads(siding(stage, "apply", "--dry-run", "--json", "--mode", mode))
    assert plan["gone_back"] == []
    assert "gone back" not in stage.apply("--mode", mode)
    assert SECRET not in log_of(stage)
    assert {"kept.txt", "good.txt"} <= set(stage.files())
    if mode != "squash":
        assert {"good", "kept"} <= set(stage.subjects())


def test_what_a_rollback_left_behind_can_be_brought_back(stage: Stage) -> None:
    stage.agent(BAD)
    bad = stage.git("rev-parse", "HEAD", cwd=stage.workspace)
    siding(stage, "rollback", "--base")
    stage.git("reflog", "expire", "--expire=now", "--all")
    stage.git("gc", "-q", "--prune=now")
    siding(stage, "undo")
    assert stage.git("rev-parse", "HEAD", cwd=stage.workspace) == bad
    assert stage.git("fsck", "--strict", "--no-dangling") == ""
    siding(stage, "undo")
    siding(stage, "redo")
    stage.apply()
    assert SECRET in stage.show("text.txt")


@pytest.fixture
def gone(stage: Stage) -> Stage:
    """A task that was taken back to its base, and went on from there."""
    stage.agent(BAD)
    siding(stage, "rollback", "--files", "--base")
    stage.agent(GOOD)
    return stage


def test_an_apply_leaves_them_out_and_says_so(gone: Stage) -> None:
    plan = json.loads(siding(gone, "apply", "--dry-run", "--json"))
    assert plan["mode"] == "squash"
    assert [each["subject"] for each in plan["gone_back"]] == [f"oops {SECRET}"]
    shown = siding(gone, "apply", "--dry-run")
    assert "gone back from" in shown
    assert "as one commit" in shown
    said = gone.apply()
    assert "gone back from" in said
    assert "closed task" in said
    assert SECRET not in log_of(gone)
    assert gone.show("good.txt") == "good\n"
    assert "* good" in gone.git("log", "-1", "--format=%B", "main")
    (left,) = gone.box.steps(gone.task)[-1]["gone_back"]
    assert left["commit"] == plan["gone_back"][0]["commit"]


@pytest.mark.parametrize("mode", ["commit", "merge", "rebase"])
def test_another_mode_by_name_is_refused_with_a_way_that_works(gone: Stage, mode: str) -> None:
    before = gone.everything()
    said = gone.apply("--mode", mode, status=1)
    assert gone.everything() == before
    assert "oops" in said
    assert "--mode squash" in said
    (command,) = re.findall(r"`(git -C \S+ reset [0-9a-f]+)`", said)
    files = {path: path.read_bytes() for path in gone.workspace.iterdir() if path.is_file()}
    subprocess.run(command.split(), env=gone.box.env, check=True, capture_output=True)
    assert {path: path.read_bytes() for path in gone.workspace.iterdir() if path.is_file()} == files
    gone.apply("--mode", mode)
    assert SECRET not in log_of(gone)
    assert gone.show("good.txt") == "good\n"


def test_a_squash_does_not_list_their_messages(gone: Stage) -> None:
    gone.apply("--mode", "squash", "--no-close")
    assert SECRET not in log_of(gone)
    assert "* good" in gone.git("log", "-1", "--format=%B", "main")
    gone.agent("echo more >more.txt; git add -A; git commit -qm more")
    before = gone.everything()
    assert "oops" in gone.apply("--mode", "merge", status=1)  # a merge would show all of the branch
    assert gone.everything() == before
    gone.apply()
    assert SECRET not in log_of(gone)
    assert gone.show("more.txt") == "more\n"


def test_undo_makes_them_good_and_redo_takes_that_back(stage: Stage) -> None:
    stage.agent(BAD)
    siding(stage, "rollback", "--files", "--base")
    siding(stage, "undo")
    assert json.loads(siding(stage, "apply", "--dry-run", "--json"))["mode"] == "commit"
    siding(stage, "redo")
    stage.agent(GOOD)
    assert json.loads(siding(stage, "apply", "--dry-run", "--json"))["mode"] == "squash"
    # Forward again to the state that had the commit: then it is what came after that is gone.
    siding(stage, "rollback", "--files", "--step", "1")
    plan = json.loads(siding(stage, "apply", "--dry-run", "--json"))
    assert [each["subject"] for each in plan["gone_back"]] == ["good"]
    stage.apply()
    assert SECRET in stage.show("text.txt")
    assert "good.txt" not in stage.files()


def test_a_branch_that_was_moved_away_from_them_is_applied_as_ever(stage: Stage) -> None:
    stage.agent("echo kept >kept.txt; git add -A; git commit -qm kept")
    stage.agent(BAD)
    siding(stage, "rollback", "--files", "--step", "1")
    stage.git("reset", "-q", "HEAD^", cwd=stage.workspace)
    stage.agent(GOOD)
    stage.apply("--mode", "merge")
    assert {"good", "kept"} <= set(stage.subjects())
    assert SECRET not in log_of(stage)


def by_amending(stage: Stage) -> None:
    stage.agent("git commit -q --amend -m 'made anew' --allow-empty; " + GOOD)


def by_picking(stage: Stage) -> None:
    stage.agent("git reset -q --hard HEAD~; git commit -q --allow-empty -m 'made anew'; " + GOOD)


@pytest.mark.parametrize("anew", [by_amending, by_picking])
def test_a_commit_that_the_agent_makes_anew_is_its_own(
    stage: Stage, anew: Callable[[Stage], None]
) -> None:
    stage.agent(BAD)
    siding(stage, "rollback", "--files", "--base")
    anew(stage)
    plan = json.loads(siding(stage, "apply", "--dry-run", "--json"))
    assert (plan["mode"], plan["gone_back"]) == ("commit", [])
    assert "made anew" in plan["commits"]


def test_a_good_commit_that_merges_one_in(stage: Stage) -> None:
    stage.agent("git checkout -q -b side; " + BAD)
    siding(stage, "rollback", "--files", "--base")
    stage.agent(
        "git checkout -qf -; echo b >b.txt; git add -A; git commit -qm b;"
        " git merge -q -s ours side -m joined"
    )
    before = stage.everything()
    assert "oops" in stage.apply("--mode", "merge", status=1)
    assert stage.everything() == before
    stage.apply()
    assert SECRET not in log_of(stage)
    assert stage.show("b.txt") == "b\n"


def test_paths_and_steps_that_were_gone_back_from(stage: Stage) -> None:
    stage.agent("echo kept >kept.txt; git add -A; git commit -qm kept; " + BAD)
    siding(stage, "rollback", "--base", "text.txt")
    stage.agent(GOOD)
    for part in (["--paths", "kept.txt"], ["--steps", "1..", "--paths", "good.txt"]):
        stage.apply(*part)
        assert SECRET not in log_of(stage)
    assert {"kept.txt", "good.txt"} <= set(stage.files())
    plan = json.loads(siding(stage, "apply", "--dry-run", "--json"))
    # Which of the commits a part of the files came from is not known: all of them stay out.
    assert [each["subject"] for each in plan["gone_back"]] == ["kept", f"oops {SECRET}"]
    for _each in ("second apply", "first apply", "good", "rollback"):
        siding(stage, "undo")
    plan = json.loads(siding(stage, "apply", "--dry-run", "--json"))
    assert plan["gone_back"] == []
    assert plan["commits"] == ["kept", f"oops {SECRET}"]


def test_commits_whose_files_the_agent_took_back_itself(stage: Stage) -> None:
    stage.agent(BAD + "; git show HEAD~:text.txt >text.txt; git commit -qam 'take it back'")
    assert "was as in the base already" in siding(stage, "rollback", "--files", "--base")
    stage.agent(GOOD)
    stage.apply()
    assert SECRET not in log_of(stage)
    for _each in ("closing", "apply", "good", "rollback"):
        siding(stage, "undo")
    plan = json.loads(siding(stage, "apply", "--dry-run", "--json"))
    assert plan["gone_back"] == []


def test_a_rollback_that_changes_no_file_is_what_undo_takes_back(stage: Stage) -> None:
    stage.agent("echo agent >>hello.txt")
    stage.apply("--no-close")
    applied = stage.git("rev-parse", "main")
    siding(stage, "rollback", "--files", "--step", "last")
    siding(stage, "undo")
    assert stage.git("rev-parse", "main") == applied
    siding(stage, "undo")
    assert stage.git("rev-parse", "main") != applied


def test_an_ignored_file_that_such_a_commit_added_stays_out(stage: Stage) -> None:
    stage.agent("echo '*.env' >.gitignore; git add -A; git commit -qm ignore")
    stage.agent(f"echo {SECRET} >vault.env; git add -f vault.env; git commit -qm vault")
    siding(stage, "rollback", "--files", "--step", "1")
    stage.agent(GOOD)
    assert (stage.workspace / "vault.env").exists()  # an ignored file stays on disk
    assert "left out: vault.env" in stage.apply()
    assert SECRET not in log_of(stage)


def test_a_task_that_was_closed_and_opened_again(gone: Stage) -> None:
    gone.box.siding("task", "close", gone.task, "--force")
    gone.box.siding("task", "reopen", gone.task)
    gone.agent("echo more >more.txt; git add -A; git commit -qm more")
    gone.apply()
    assert SECRET not in log_of(gone)
    assert gone.show("more.txt") == "more\n"


def test_phase_commits_hang_before_them(gone: Stage) -> None:
    done = gone.box.siding("phase", "start", "impl", "begin", "-t", gone.task)
    said = (done.stdout + done.stderr).decode()
    assert "oops" in said
    assert SECRET not in log_of(gone, "HEAD", cwd=gone.workspace)
    assert gone.git("show", "HEAD:good.txt", cwd=gone.workspace) == "good"
    assert gone.status(gone.workspace) == []
    store = str(gone.box.project / "snapshots.git")
    bad = gone.box.steps(gone.task)[0]["commits"][0]
    gone.git("--git-dir", store, "cat-file", "-e", bad)  # for whoever goes forward again
    gone.agent("echo more >more.txt; git add -A; git commit -qm more")
    gone.apply("--mode", "commit")
    assert gone.subjects()[0] == "more"
    assert SECRET not in log_of(gone)


def test_a_name_made_from_a_command_that_was_gone_back_from_is_not_published(
    tmp_path: Path,
) -> None:
    box = Sandbox(tmp_path, files={"text.txt": "one\n"})
    box.siding("run", "--", "sh", "-c", f"echo {SECRET} >>text.txt")
    box.siding("rollback", "--base")
    box.siding("run", "--", "sh", "-c", "echo fine >fine.txt")
    remote = tmp_path / "remote.git"
    box.git("init", "-q", "--bare", str(remote))
    box.git("remote", "add", "origin", str(remote))
    plan = box.siding("pr", "--dry-run").stdout.decode()
    assert SECRET not in plan
    box.siding("pr")
    box.siding("apply")
    everything = box.git("log", "-p", "--all", "--format=%D %B", cwd=remote)
    everything += box.git("log", "-p", "main")
    assert SECRET not in everything
    assert "echo fine" in everything
