"""The branch of a closed task goes if nothing is lost with it, and comes back with the task."""

from pathlib import Path

import pytest

from sandbox import Sandbox
from siding.applying.apply import Mode
from siding.record.place.take_over import TAKEN_OVER
from siding.record.workspaces.branches import BranchFate, fate_of
from siding.tasks.close import Closed, Fate, close_task

from .desk import Desk


def fate(closed: Closed) -> BranchFate:
    assert closed.branch is not None
    return closed.branch


def tip(desk: Desk) -> str | None:
    return desk.project.repository.branch(desk.branch)


def collect_garbage(desk: Desk) -> None:
    desk.sandbox.git("reflog", "expire", "--expire=now", "--all")
    desk.sandbox.git("gc", "-q", "--prune=now")


@pytest.mark.parametrize("ending", [Fate.REMOVE, Fate.DELETE])
def test_a_branch_with_nothing_on_it_goes_and_comes_back(desk: Desk, ending: Fate) -> None:
    base = tip(desk)
    desk.write("uncommitted", "1")
    found = fate(desk.close(ending))
    assert (found.deleted, found.why, found.tip) == (True, "nothing on it", base)
    assert tip(desk) is None
    desk.reopen()
    assert tip(desk) == base
    assert desk.git("symbolic-ref", "--short", "HEAD") == desk.branch
    assert desk.read("uncommitted") == b"1"


def test_commits_that_are_nowhere_else_keep_it(desk: Desk) -> None:
    desk.commit()
    desk.write("more", "1")
    desk.commit()
    found = fate(desk.close())
    assert (found.deleted, found.why) == (False, "2 commits that main does not have")
    assert tip(desk) == found.tip
    assert desk.gc().branches == ()
    assert tip(desk) == found.tip


def test_a_merged_branch_goes(desk: Desk) -> None:
    desk.write("f", "1")
    desk.commit()
    head = tip(desk)
    desk.sandbox.git("merge", "-q", "--ff-only", desk.branch)
    found = fate(desk.close())
    assert (found.deleted, found.why) == (True, "main has all of it")
    desk.reopen()
    assert tip(desk) == head


@pytest.mark.parametrize("mode", [Mode.COMMIT, Mode.SQUASH, Mode.MERGE])
@pytest.mark.parametrize("freed", [False, True], ids=["in the trash", "freed"])
def test_what_was_applied_goes_and_every_way_back_stays(
    desk: Desk, mode: Mode, freed: bool
) -> None:
    desk.write("f", "1")
    desk.commit()
    desk.write("f", "2")
    desk.commit()
    desk.write("g", "uncommitted")
    head, first = tip(desk), desk.sandbox.git("rev-parse", "main")
    applied = desk.apply(mode, close=True)
    assert applied.closed is not None
    assert fate(applied.closed).deleted
    assert tip(desk) is None
    collect_garbage(desk)
    if freed:
        desk.gc()
    desk.undo()
    assert tip(desk) == head
    assert desk.git("log", "--format=%s").splitlines() == ["the agent's", "the agent's", "first"]
    assert desk.git("status", "--porcelain") == "?? g"
    desk.undo()
    assert desk.sandbox.git("rev-parse", "main") == first
    desk.rollback(None)
    assert desk.git("rev-parse", "HEAD") == first


def test_commits_that_only_the_snapshots_have_come_back(desk: Desk) -> None:
    import shutil

    desk.write("f", "1")
    desk.commit()
    head = tip(desk)
    desk.apply(Mode.SQUASH, close=True)
    assert tip(desk) is None
    shutil.rmtree(desk.project.layout.trash_dir)
    collect_garbage(desk)
    desk.reopen()
    assert tip(desk) == head
    assert desk.git("status", "--porcelain") == ""


def test_an_apply_that_was_taken_back_keeps_it(desk: Desk) -> None:
    desk.write("f", "1")
    desk.commit()
    desk.apply(Mode.SQUASH)
    desk.undo()
    found = fate(desk.close())
    assert (found.deleted, found.why) == (False, "1 commit that main does not have")


def test_work_after_the_apply_keeps_it(desk: Desk) -> None:
    desk.write("f", "1")
    desk.commit()
    desk.apply(Mode.SQUASH)
    desk.write("f", "2")
    desk.commit()
    assert not fate(desk.close()).deleted


def test_commits_that_the_snapshots_lack_keep_it(desk: Desk) -> None:
    desk.write("f", "1")
    desk.commit()
    head = tip(desk)
    desk.apply(Mode.SQUASH)
    (desk.project.snapshots.objects / "pack").rename(desk.sandbox.directory / "away")
    (desk.project.snapshots.objects / "pack").mkdir()
    found = fate(desk.close())
    assert (found.deleted, tip(desk)) == (False, head)


def test_the_branch_of_a_checkout_stays(desk: Desk) -> None:
    desk.git("switch", "-q", "--detach")
    elsewhere = desk.sandbox.directory / "elsewhere"
    desk.sandbox.git("worktree", "add", "-q", str(elsewhere), desk.branch)
    found = fate(desk.close())
    assert (found.deleted, found.why) == (False, f"it is checked out at {str(elsewhere)!r}")
    assert tip(desk) == found.tip


def test_a_branch_that_is_not_ours_stays(desk: Desk) -> None:
    desk.git("switch", "-q", "--detach")
    desk.sandbox.git("branch", "-D", desk.branch)
    desk.sandbox.git("branch", desk.branch)  # the person's, of the same name
    found = fate(desk.close())
    assert (found.deleted, found.why) == (False, "Siding did not make it")


def test_the_branch_of_another_tool_stays(desk: Desk) -> None:
    workspace = desk.project.registry.of_task(desk.task.id)
    assert workspace is not None
    with desk.project.changing("a test"):
        desk.project.registry.put(workspace._replace(rest={TAKEN_OVER: True}))
    assert fate(desk.close()).why == "Siding did not make it"


def test_a_branch_stays_when_a_person_wants_it(desk: Desk) -> None:
    closed = close_task(desk.project, desk.task, fate=Fate.REMOVE, force=True, keep_branch=True)
    assert (fate(closed).deleted, fate(closed).asked) == (False, True)
    assert desk.gc().branches == ()
    desk.undo()
    desk.redo()
    assert tip(desk) is not None, "closing again keeps it, too"


def test_gc_sweeps_what_was_merged_since(desk: Desk) -> None:
    desk.write("f", "1")
    desk.commit()
    assert not fate(desk.close()).deleted
    desk.sandbox.git("merge", "-q", "--ff-only", desk.branch)
    (would,) = desk.gc(dry_run=True).branches
    assert (would.branch, would.why, tip(desk)) == (desk.branch, "main has all of it", would.tip)
    (done,) = desk.gc().branches
    assert (done.branch, tip(desk)) == (desk.branch, None)
    assert desk.gc().branches == ()
    desk.reopen()
    assert tip(desk) == would.tip


def test_gc_sweeps_the_branch_of_a_deleted_task(desk: Desk) -> None:
    desk.write("f", "1")
    desk.commit()
    assert not fate(desk.close(Fate.DELETE)).deleted
    desk.sandbox.git("merge", "-q", "--ff-only", desk.branch)
    (done,) = desk.gc().branches
    assert (done.why, tip(desk)) == ("main has all of it", None)
    desk.reopen()
    assert tip(desk) == done.tip


def test_gc_leaves_the_branch_of_an_open_task(desk: Desk) -> None:
    assert desk.gc().branches == ()
    assert tip(desk) is not None


def test_the_command_line_tells_it(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    branch = sandbox.json("task", "show", "--format", "json")["branch"]
    said = sandbox.json("task", "close", "--format", "json")
    assert said["branch"]["branch"] == branch
    assert (said["branch"]["deleted"], said["branch"]["why"]) == (True, "nothing on it")
    assert Path(said["trash"]).is_dir()
    assert said["workspace"] is None
    sandbox.siding("task", "reopen", "one")
    done = sandbox.siding("worktree", "remove", "one", "--keep-branch")
    assert f"branch {branch} kept, as you asked" in done.stderr.decode()
    assert sandbox.git("rev-parse", branch) == sandbox.git("rev-parse", "main")


def test_the_fate_of_an_open_task_is_not_known(desk: Desk) -> None:
    desk.close()
    opened = desk.reopen().workspace
    assert opened is not None
    assert fate_of(opened) is None


def test_a_git_that_died_at_it_leaves_no_lock(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a power cut leaves it: git's own locks are there, and nobody who holds them."""
    git = desk.sandbox.repo / ".git"
    locks = [git / "packed-refs.lock", git / f"refs/heads/{desk.branch}.lock"]

    def dies(*_: object) -> bool:
        for lock in locks:
            lock.touch()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("siding.ground.git.repository.Repository.delete_branch", dies)
        with pytest.raises(KeyboardInterrupt):
            desk.close()
    again = Desk.again(desk)
    again.plan("another")  # any command that begins something recovers what was cut off
    assert [lock for lock in locks if lock.exists()] == []
    assert tip(again) is None
