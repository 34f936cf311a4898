"""An apply through its own door: what it refuses, what its step says, when the task is closed."""

import errno
import os
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from integration.undo.desk import Desk
from siding.applying import apply as applying
from siding.applying import branch_move as moving
from siding.applying.apply import (
    Applied,
    ApplyPlan,
    ApplyRequest,
    Conflicting,
    Mode,
    apply,
    named_in,
    planned,
    preview,
    target_for,
    write_patch,
)
from siding.applying.git.merging import Conflict
from siding.applying.plan import Target
from siding.applying.rehearsal import NotProven
from siding.ground.errors import NotFound, SidingError, UsageError
from siding.ground.ids import Sha
from siding.record.acts.pause import Pause
from siding.record.ledger.figures import DiffFigures
from siding.record.ledger.freed import FreedSteps, Freeing
from siding.record.ledger.move_details import ApplyDetail, LeftAlone
from siding.record.ledger.step import Step, StepStatus
from siding.record.moving.model import CheckoutBusy, Overlapping
from siding.record.place.task_workspace import require_workspace
from siding.record.recording.freed import SnapshotFreed, freed_journal
from siding.record.recording.held_traps import TrapsUnseen
from siding.record.runs.store import Runs
from siding.record.unfinished import left_running

from .ledgers import Told


def applied(desk: Desk, mode: Mode | None = None, **more: Any) -> Applied:
    return apply(desk.project, ApplyRequest(task=desk.task.id, mode=mode, **more))


def detail_of(done: Applied) -> ApplyDetail:
    assert done.step is not None
    detail = done.step.as_apply
    assert detail is not None
    return detail


def refused(desk: Desk, error: type[SidingError], says: str, **request: Any) -> None:
    """It is refused with these words; the target is where it was, and no step says otherwise."""

    def state() -> tuple[str, list[str]]:
        steps = [step.id for step in desk.steps() if step.as_apply is not None]
        return desk.sandbox.git("rev-parse", "main"), steps

    before = state()
    with pytest.raises(error, match=says):
        applied(desk, **request)
    assert state() == before


def test_the_step_says_what_was_applied(desk: Desk) -> None:
    target = desk.sandbox.git("rev-parse", "main")
    desk.write("one", "1\n")
    desk.commit()
    desk.write("two", "2\n2\n")
    done = applied(desk, message="told\n\nmore", close=False)
    head = desk.git("rev-parse", "HEAD")
    new = desk.sandbox.git("rev-parse", "main")
    detail = detail_of(done)
    assert detail._replace(move=None) == ApplyDetail(
        mode="commit",
        commit_sha=new,
        commit_message=done.plan.message,
        message="told",
        target_branch="main",
        target_before=target,
        commits=(desk.sandbox.git("rev-parse", "main~"), new),
        whole=True,
        head=head,
        applied=DiffFigures(2, 3, 0, ("one", "two")),
        reflog=f"siding apply: {done.task.name}",
    )
    assert detail.move is not None
    assert len(detail.move["token"]) == 16
    assert (done.closed, done.stays_open, done.beside) == (None, None, ())
    assert [each.kind for each in done.settled] == ["checkpoint"]  # what no step had yet
    assert (desk.sandbox.repo / "two").read_text() == "2\n2\n"
    assert not (desk.project.snapshots.root / "applies" / desk.task.id).exists()
    assert applied(desk, close=False).step is None


def test_an_apply_that_fails_half_way_is_brought_to_an_end_at_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another command may come late: until then the person works in their checkout."""

    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    desk.write("one", "1\n")
    monkeypatch.setattr(moving, "told", fails)
    with pytest.raises(OSError, match="no room"):
        applied(desk, close=False)
    (step,) = [each for each in desk.steps() if each.as_apply is not None]
    assert step.status == StepStatus.COMPLETED
    assert (desk.sandbox.repo / "one").read_text() == "1\n"
    assert desk.sandbox.git("status", "--porcelain") == ""


def test_files_alone_are_applied_to_the_checkout_here(desk: Desk) -> None:
    target = desk.sandbox.git("rev-parse", "main")
    desk.write("one", "1\n")
    detail = detail_of(applied(desk, Mode.PATCH, close=False))
    assert detail._replace(move=None) == ApplyDetail(
        mode="patch",
        message="patch",
        target_before=target,
        whole=True,
        head=target,
        applied=DiffFigures(1, 1, 0, ("one",)),
        reflog=f"siding apply: {desk.task.name}",
    )
    assert (desk.sandbox.repo / "one").read_text() == "1\n"
    assert desk.sandbox.git("rev-parse", "main") == target


def test_a_part_says_which_and_leaves_the_task_open(desk: Desk) -> None:
    desk.write("one", "1\n")
    desk.checkpoint()
    desk.write("two", "1\n")
    desk.checkpoint()
    done = applied(desk, steps="1..1", paths=(b"one",))
    detail = detail_of(done)
    assert (detail.whole, detail.steps, detail.paths, detail.head) == (
        False,
        "1..1",
        ("one",),
        None,
    )
    assert done.closed is None
    assert done.stays_open == "only part of it was applied"
    done = applied(desk)
    assert done.closed is not None
    assert done.stays_open is None
    assert done.task == done.closed.task
    assert not desk.root.exists()


def test_what_is_left_out_is_said_and_leaves_the_task_open(desk: Desk) -> None:
    desk.write("one", "1\n")
    desk.git("init", "-q", "inner")
    desk.write("inner/f", "1\n")
    done = applied(desk)
    detail = detail_of(done)
    assert detail.left_out == (LeftAlone("inner", "it is a repository of its own"),)
    assert not detail.whole
    assert done.stays_open == "some of it was left out"


def test_commits_that_were_gone_back_from_are_named_in_the_step(desk: Desk) -> None:
    desk.checkpoint()
    desk.write("bad", "1\n")
    desk.commit()
    bad = desk.git("rev-parse", "HEAD")
    desk.checkpoint()
    desk.rollback(1, files_only=True)
    desk.write("one", "1\n")
    (left,) = detail_of(applied(desk, close=False)).gone_back
    assert left == (bad[:12], "the agent's")


def test_a_task_that_has_changed_nothing_is_not_closed(desk: Desk) -> None:
    done = applied(desk)
    assert (done.step, done.closed, done.stays_open) == (None, None, None)


@pytest.mark.parametrize(
    ("runs", "reason"), [("r1", "r1 lives in it"), ("r1 r2", "r1, r2 live in it")]
)
def test_it_stays_open_while_runs_live_in_it(
    desk: Desk, runs: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("one", "1\n")
    done = applied(desk, close=False)
    monkeypatch.setattr(applying, "perform", lambda *_: done._replace(beside=tuple(runs.split())))
    assert applied(desk).stays_open == reason
    left = [SimpleNamespace(run=SimpleNamespace(id=each)) for each in runs.split()]
    monkeypatch.setattr(applying, "perform", lambda *_: done)
    monkeypatch.setattr(left_running, "in_the_way", lambda *_: left)
    words = f"what {', '.join(runs.split())} left running works on in it"
    assert applied(desk).stays_open == words
    assert applied(desk, close=False) == done


def test_runs_go_on_before_the_change_is_computed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def computed(*words: Any, **more: Any) -> ApplyPlan:
        order.append("computed")
        return planned(*words, **more)

    monkeypatch.setattr(Pause, "go_on", lambda _: order.append("goes on"))
    monkeypatch.setattr(applying, "planned", computed)
    desk.write("one", "1\n")
    assert detail_of(applied(desk, close=False))
    assert order[:2] == ["goes on", "computed"]


def test_a_preview_beside_runs_is_of_the_newest_recorded_state(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("one", "1\n")
    desk.checkpoint()
    desk.write("two", "1\n")
    (desk.sandbox.repo / "one").write_text("mine\n")

    def paths(**more: Any) -> tuple[list[bytes], tuple[bytes, ...], int]:
        with preview(desk.project, ApplyRequest(task=desk.task.id, **more)) as (task, plan, bench):
            assert task == desk.task
            assert bench.root.name
            return [each.path for each in plan.changes], plan.overlaps.all, len(plan.notes)

    as_it_is, as_recorded = ([b"one", b"two"], (b"one",), 0), ([b"one"], (b"one",), 1)
    assert paths() == as_it_is
    monkeypatch.setattr(Runs, "live", lambda _: [SimpleNamespace(id="r1", title="x")])
    assert paths() == as_recorded
    assert paths(now=True) == as_it_is
    assert not list((desk.project.snapshots.root / "applies").glob("*"))


def test_a_conflict_names_the_first_five_paths(desk: Desk) -> None:
    desk.write("hello.txt", "agent's\n")
    (desk.sandbox.repo / "hello.txt").write_text("person's\n")
    desk.sandbox.git("commit", "-q", "-am", "theirs")
    refused(desk, Conflicting, "the task and main disagree about hello.txt$")
    with preview(desk.project, ApplyRequest(task=desk.task.id)) as (_, plan, _):
        pass
    for count, shown in ((5, "0, 1, 2, 3, 4"), (6, "0, 1, 2, 3, 4 and 1 more")):
        more = plan._replace(conflicts=tuple(Conflict(b"%d" % n, "") for n in range(count)))
        assert str(Conflicting(more)) == f"the task and main disagree about {shown}"
    nowhere = plan._replace(target=plan.target._replace(branch=""))
    assert str(Conflicting(nowhere)) == "the task and your checkout disagree about hello.txt"


def test_the_persons_files_in_the_way_are_refused_before_a_hook_runs(desk: Desk) -> None:
    desk.write("one", "1\n")
    (desk.sandbox.repo / "one").write_text("mine\n")
    hook = desk.sandbox.repo / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {desk.sandbox.directory}/ran\n")
    hook.chmod(0o755)
    for hooks in (False, True):
        refused(desk, Overlapping, "one", hooks=hooks)
    ran = desk.sandbox.directory / "ran"
    assert not ran.exists()
    (desk.sandbox.repo / "one").unlink()
    detail_of(applied(desk, close=False))
    assert not ran.exists()
    desk.write("one", "2\n")
    detail_of(applied(desk, hooks=True, close=False))
    assert ran.exists()


def test_a_command_has_to_hold_on_the_result(desk: Desk) -> None:
    desk.write("one", "1\n")
    refused(desk, NotProven, "'exit 3' ended with 3 on the result", only_if="exit 3")
    command = f"grep -q 1 one && test $SIDING_WORKSPACE = {desk.root}"
    branch = 'test "$(git symbolic-ref --short HEAD)" = '
    done = applied(desk, only_if=f"{command} && {branch} main", close=False)
    assert detail_of(done).proven_by == f"{command} && {branch} main"
    assert applied(desk, only_if="exit 3", close=False).step is None  # nothing to prove it on
    desk.write("two", "1\n")
    assert detail_of(applied(desk, Mode.PATCH, only_if=f"{branch} result", close=False))


def test_a_proof_does_not_hold_for_another_result(desk: Desk) -> None:
    desk.write("one", "1\n")
    meddling = f"echo 2 >{desk.root}/one"
    refused(desk, NotProven, "the task or main changed while .* ran", only_if=meddling)
    refused(
        desk,
        NotProven,
        "the task or the checkout changed",
        only_if="echo 3 >$SIDING_WORKSPACE/one",
        mode=Mode.PATCH,
    )
    undone = f"rm {desk.root}/one"
    assert applied(desk, only_if=undone).step is None  # now there is nothing to apply
    desk.write("hello.txt", "agent's\n")
    (desk.sandbox.repo / "hello.txt").write_text("person's\n")
    desk.sandbox.git("commit", "-q", "-am", "theirs")
    refused(desk, Conflicting, "hello.txt", only_if=f"touch {desk.sandbox.directory}/ran")
    assert not (desk.sandbox.directory / "ran").exists()


def test_where_a_change_goes(desk: Desk) -> None:
    project, git = desk.project, desk.sandbox.git

    def target(**more: Any) -> Target:
        return target_for(project, desk.task, ApplyRequest(**more))

    main = git("rev-parse", "main")
    found = target()
    assert found.checkout is not None
    assert (found.branch, found.sha, found.checkout.root) == ("main", main, desk.sandbox.repo)
    git("branch", "other")
    git("branch", "elsewhere")
    elsewhere = desk.sandbox.directory / "elsewhere"
    git("worktree", "add", "-q", str(elsewhere), "elsewhere")
    git("commit", "-q", "--allow-empty", "-m", "on", cwd=elsewhere)
    at = git("rev-parse", "elsewhere")
    assert target(onto="other") == ("other", main, None)
    found = target(onto="elsewhere")
    assert found.checkout is not None
    assert (found.branch, found.sha, found.checkout.root) == ("elsewhere", at, elsewhere)
    assert target(onto="elsewhere", mode=Mode.PATCH) == ("", at, found.checkout)
    here = target(mode=Mode.PATCH)
    assert here.checkout is not None
    assert (here.branch, here.sha, here.checkout.root) == ("", main, desk.sandbox.repo)
    with pytest.raises(UsageError, match="own branch"):
        target(onto=desk.branch)
    with pytest.raises(NotFound, match="no branch 'gone'"):
        target(onto="gone")
    with pytest.raises(UsageError, match="checked out nowhere"):
        target(onto="other", mode=Mode.PATCH)
    (desk.sandbox.repo / ".git/MERGE_HEAD").write_text(main + "\n")
    with pytest.raises(CheckoutBusy):
        target(mode=Mode.PATCH)
    git("checkout", "-q", "--orphan", "unborn")
    with pytest.raises(NotFound, match="no commit yet"):
        target(mode=Mode.PATCH)
    project.checkout = None
    with pytest.raises(UsageError, match="no checkout here"):
        target(mode=Mode.PATCH)


def test_a_range_of_steps(told: Told) -> None:
    desk = told.desk

    def taken(steps: str) -> tuple[list[bytes], str]:
        with preview(desk.project, ApplyRequest(task=desk.task.id, steps=steps)) as (_, plan, _):
            return [each.path for each in plan.changes], plan.wanted.steps

    with pytest.raises(NotFound, match="no steps yet"):
        taken("1")
    for number in (1, 2, 3):
        desk.write(f"f{number}", "1\n")
        desk.checkpoint()
    told.run(parent=told.base)
    told.run(snapshot=told.base)
    assert taken("2") == ([b"f2"], "0002")
    assert taken("2..3") == ([b"f2", b"f3"], "0002-0003")
    assert taken("..2") == ([b"f1", b"f2"], "0001-0002")
    assert taken("3..3") == ([b"f3"], "0003")
    for steps, error, says in (
        ("x", UsageError, "not a range"),
        ("3..2", UsageError, "ends before it begins"),
        ("9", NotFound, "no step 9 with a snapshot"),
        ("2..9", NotFound, "no step 9 with a snapshot"),
        ("4", NotFound, "no step 4 with a snapshot"),
        ("5", NotFound, "no step 5 with a snapshot"),
        ("2..", NotFound, "no step 5 with a snapshot"),
    ):
        with pytest.raises(error, match=says):
            taken(steps)


def free(desk: Desk, step: Step) -> None:
    """Note that the step's snapshot was freed, as `siding gc` does before it deletes anything."""
    steps = FreedSteps(desk.task.id, 1, "", {str(step.snapshot): (step.id,)})
    freeing = Freeing(f"f{step.id}", "2026-01-02T00:00:00Z", 1.0, (steps,))
    freed_journal(desk.project).begin(freeing)


def test_a_range_whose_states_were_freed_is_refused(desk: Desk) -> None:
    steps = []
    for number in (1, 2, 3):
        desk.write(f"f{number}", "1\n")
        steps.append(desk.checkpoint())
    free(desk, steps[1])
    refused(desk, SnapshotFreed, "^step 0002 is gone: .* on 2026-01-02$", steps="2")
    refused(desk, SnapshotFreed, "^step 0002 is gone", steps="1..2")
    refused(desk, SnapshotFreed, "^the state before step 0003 is gone", steps="3")
    assert detail_of(applied(desk, steps="1..3")).steps == "1..3"


def test_traps_that_nobody_has_seen_hold_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write(".envrc", "true\n")
    with preview(desk.project, ApplyRequest(task=desk.task.id)) as (_, plan, _):
        assert ([each.path for each in plan.traps], plan.holds) == ([".envrc"], False)
    monkeypatch.setattr(applying, "holds", lambda *_: True)
    ran = desk.sandbox.directory / "ran"
    for only_if in (None, f"touch {ran}"):
        refused(desk, TrapsUnseen, "nobody has seen it yet", only_if=only_if)
    assert not ran.exists()
    assert detail_of(applied(desk, seen=True, close=False))
    desk.write("one", "1\n")
    assert detail_of(applied(desk, close=False))  # what was seen once does not hold it again


def test_a_path_that_nobody_knows_is_refused(desk: Desk) -> None:
    desk.write("one", "1\n")
    desk.checkpoint()
    desk.write("two", "1\n")
    desk.checkpoint()
    (desk.root / "one").unlink()
    desk.checkpoint()
    refused(desk, NotFound, "nowhere", paths=(b"nowhere",))
    with preview(desk.project, ApplyRequest(task=desk.task.id, steps="3", paths=(b"one",))):
        pass  # it is there before the steps, and at the end no more
    refused(desk, NotFound, "hello", steps="2", paths=(b"hello",))


def test_paths_are_named_below_the_workspace(desk: Desk) -> None:
    task = desk.task.id
    assert named_in(desk.project, task, []) == ()
    names = [str(desk.root / "a"), str(desk.sandbox.repo / "b/c")]
    assert named_in(desk.project, task, names) == (b"a", b"b/c")


def test_a_patch_is_one_that_git_can_apply(desk: Desk) -> None:
    desk.write("hello.txt", b"\0binary")
    desk.write("new", "1\n")
    os.chmod(desk.root / "new", 0o755)
    file = desk.sandbox.directory / "patch"
    with (
        preview(desk.project, ApplyRequest(task=desk.task.id)) as (_, plan, bench),
        file.open("wb") as out,
    ):
        write_patch(bench, plan, out.fileno())
    desk.sandbox.git("apply", "--cached", str(file))
    assert desk.sandbox.git("write-tree") == plan.tree


def test_a_workspace_without_a_base_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = require_workspace(desk.project, desk.task)._replace(base_snapshot=Sha(""))
    monkeypatch.setattr(applying, "require_workspace", lambda *_: workspace)
    with (
        pytest.raises(SidingError, match="was recorded yet"),
        preview(desk.project, ApplyRequest()),
    ):
        pass


def test_the_new_commits_outlive_the_bench(desk: Desk) -> None:
    desk.write("one", "1\n")
    desk.commit()
    desk.write("two", "1\n")
    applied(desk, Mode.MERGE, close=False)
    done = subprocess.run(
        ["git", "fsck", "--strict", "--no-dangling"],
        cwd=desk.sandbox.repo,
        env=desk.sandbox.env,
        capture_output=True,
        check=True,
    )
    assert done.stdout == b""
