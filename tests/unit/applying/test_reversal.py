"""An apply is taken back and done again whole, or refused where that would cost anybody work."""

import pytest

from integration.undo.desk import Desk
from siding.applying.apply import Mode
from siding.applying.reversal import ReverseApply, applied_in
from siding.record.acts.skeleton import perform
from siding.record.ledger.figures import DiffFigures
from siding.record.ledger.kinds import Reversal
from siding.record.ledger.move_details import ApplyDetail
from siding.record.ledger.step import Step
from siding.record.moving.model import CheckoutBusy
from siding.record.restoring.refusal import Refusal

from .ledgers import Told


@pytest.fixture
def once(desk: Desk) -> Desk:
    """A task that was applied as one commit on top of another of the person's."""
    (desk.sandbox.repo / "theirs").write_text("1\n")
    desk.sandbox.git("add", "-A")
    desk.sandbox.git("commit", "-q", "-m", "theirs")
    desk.write("hello.txt", "1\n2\n3\n")
    desk.checkpoint()
    desk.apply(Mode.SQUASH)
    return desk


def reverse(desk: Desk, step: Step, *, again: bool = False) -> Step:
    reversal = Reversal(redoes=step.id) if again else Reversal(undoes=step.id)
    return perform(desk.project, desk.task.id, ReverseApply(step, reversal))


def told_in(step: Step) -> ApplyDetail:
    return applied_in(step)._replace(move=None, reflog="", displaced="")


def test_back_and_again_with_the_same_commit(once: Desk) -> None:
    git, hello = once.sandbox.git, once.sandbox.repo / "hello.txt"
    first = once.steps()[-1]
    new, old = git("rev-parse", "main"), git("rev-parse", "main~")
    done = applied_in(first)
    assert done.applied == DiffFigures(1, 3, 1, ("hello.txt",))
    back = reverse(once, first)
    assert (git("rev-parse", "main"), hello.read_text()) == (old, "hello\n")
    assert git("status", "--porcelain") == ""
    undone = ApplyDetail(
        mode="squash",
        message="undo of step 0002",
        commit_sha=old,
        commit_message=done.commit_message,
        target_branch="main",
        target_before=new,
        head=done.head,
        applied=DiffFigures(1, 1, 3, ("hello.txt",)),
        reversal=Reversal(undoes="0002"),
    )
    assert told_in(back) == undone
    assert git("reflog", "-1", "--format=%gs", "main") == "siding undo: work"
    again = reverse(once, first, again=True)
    assert (git("rev-parse", "main"), hello.read_text()) == (new, "1\n2\n3\n")
    assert told_in(again) == undone._replace(
        message="redo of step 0002",
        commit_sha=new,
        target_before=old,
        whole=True,
        applied=done.applied,
        reversal=Reversal(redoes="0002"),
    )
    assert git("reflog", "-1", "--format=%gs", "main") == "siding apply: work"
    assert applied_in(again).move != applied_in(back).move


def test_a_branch_that_has_moved_stays_where_it_is(once: Desk) -> None:
    git, step = once.sandbox.git, once.steps()[-1]
    reverse(once, step)
    git("commit", "-q", "--allow-empty", "-m", "later")
    at = git("rev-parse", "main")
    for again in (False, True):
        with pytest.raises(Refusal, match=f"branch 'main' is at {at[:12]} now"):
            reverse(once, step, again=again)
    assert git("rev-parse", "main") == at
    git("switch", "-q", "-c", "other")
    git("branch", "-q", "-D", "main")
    with pytest.raises(Refusal, match="branch 'main' is at nothing now"):
        reverse(once, step)


def test_what_was_pushed_is_not_taken_back(once: Desk) -> None:
    git = once.sandbox.git
    git("update-ref", "refs/remotes/origin/main", "main")
    with pytest.raises(Refusal, match="were pushed: origin/main has them") as why:
        reverse(once, once.steps()[-1])
    assert "on main" in (why.value.hint or "")
    git("update-ref", "refs/remotes/origin/main", "main~")
    reverse(once, once.steps()[-1])


def test_commits_that_are_gone_cannot_be_applied_again(once: Desk) -> None:
    git, step = once.sandbox.git, once.steps()[-1]
    reverse(once, step)
    git("reflog", "expire", "--expire=now", "--all")
    git("gc", "-q", "--prune=now")
    with pytest.raises(Refusal, match="step 0002 are no longer in the repository") as why:
        reverse(once, step, again=True)
    assert why.value.hint == "`siding apply` makes new ones"


def test_the_files_are_left_alone_where_another_branch_is_checked_out(once: Desk) -> None:
    git, step = once.sandbox.git, once.steps()[-1]
    git("switch", "-q", "-c", "other")
    reverse(once, step)
    assert (once.sandbox.repo / "hello.txt").read_text() == "1\n2\n3\n"
    assert git("rev-parse", "main") == git("rev-parse", "other~")
    git("switch", "-q", "main")
    reverse(once, step, again=True)
    assert (once.sandbox.repo / "hello.txt").read_text() == "1\n2\n3\n"


def test_files_without_a_commit_go_back_and_forth(desk: Desk) -> None:
    hello, git = desk.sandbox.repo / "hello.txt", desk.sandbox.git
    desk.write("hello.txt", "1\n")
    desk.checkpoint()
    desk.apply(Mode.PATCH)
    step = desk.steps()[-1]
    main = git("rev-parse", "main")
    (desk.sandbox.repo / ".git/MERGE_HEAD").write_text(main + "\n")
    for again in (False, True):
        with pytest.raises(CheckoutBusy):
            reverse(desk, step, again=again)
    (desk.sandbox.repo / ".git/MERGE_HEAD").unlink()
    git("commit", "-q", "--allow-empty", "-m", "meanwhile")
    back = told_in(reverse(desk, step))
    assert hello.read_text() == "hello\n"
    assert (back.commit_sha, back.target_branch, back.target_before) == ("", "", "")
    redone = told_in(reverse(desk, step, again=True))
    assert hello.read_text() == "1\n"
    assert redone.commit_sha == ""
    git("gc", "-q", "--prune=now")
    with pytest.raises(Refusal, match="step 0002 are no longer in the repository"):
        reverse(desk, step)


def test_what_is_no_apply_of_ours_is_refused(told: Told) -> None:
    for step in (told.run(), told.apply()):
        with pytest.raises(Refusal, match=f"step {step.id} is not an apply"):
            reverse(told.desk, step)


def test_an_apply_of_an_old_version_has_no_figures(told: Told) -> None:
    told.desk.write("hello.txt", "1\n")
    told.desk.checkpoint()
    told.desk.apply(Mode.SQUASH)
    done = applied_in(told.desk.steps()[-1])
    old = told.line(done._replace(applied=None, whole=False))
    assert applied_in(reverse(told.desk, old)).applied is None
    assert not applied_in(reverse(told.desk, old, again=True)).whole  # it was a part of the change
