"""A move through the phases is an act: what fails in it, and what the ledger says then."""

import pytest

from integration.undo.desk import Desk
from siding.phases import move_plan
from siding.phases.moves import MovedPhase, PhaseRequest, move
from siding.record.ledger.move_details import PhaseDetail
from siding.record.ledger.step import Step
from siding.record.moving.model import CheckoutBusy
from siding.record.phases.states import PhaseMove
from siding.record.recording.recorder import Recorder


def begin(desk: Desk) -> MovedPhase:
    return move(desk.project, PhaseRequest(PhaseMove.START, "begin", target="impl"))


def go_on(desk: Desk) -> MovedPhase:
    return move(desk.project, PhaseRequest(PhaseMove.NEXT_STEP, "more"))


def newest(desk: Desk) -> tuple[Step, PhaseDetail]:
    """The newest step, after one more command has recovered what was cut off."""
    again = Desk.again(desk)
    again.checkpoint()
    step = next(each for each in reversed(again.steps()) if each.kind == "phase")
    detail = step.detail
    assert isinstance(detail, PhaseDetail)
    return step, detail


def head(desk: Desk) -> str:
    return desk.sandbox.git("rev-parse", "HEAD", cwd=desk.root)


def test_it_is_one_step_with_its_commit_and_what_was_there_before_another(desk: Desk) -> None:
    desk.write("new", "new\n")
    done = begin(desk)
    before, after = desk.steps()
    assert (before.kind, before.files, before.title) == (
        "checkpoint",
        1,
        "changes made outside Siding",
    )
    assert (after.kind, after.files, after.status) == ("phase", 0, "completed")
    assert after.detail == PhaseDetail(
        "[siding] impl: begin", "start", "impl", 1, done.task.branch, done.entry.git_commit
    )
    assert after.commits == (done.entry.git_commit,)


def test_a_busy_branch_leaves_no_step(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(desk)
    at = head(desk)

    def busy(*_arguments: object, **_more: object) -> None:
        raise CheckoutBusy("another git is at work")

    monkeypatch.setattr(move_plan, "advance", busy)
    with pytest.raises(CheckoutBusy):
        go_on(desk)
    assert [step.kind for step in desk.steps()] == ["phase"]
    assert head(desk) == at
    assert not list(desk.project.layout.root.glob("tasks/*/phase-intent.json"))


def test_cut_off_before_the_branch_it_is_an_interrupted_step(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(desk)
    at = head(desk)

    def killed(*_arguments: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(move_plan, "advance", killed)
    with pytest.raises(KeyboardInterrupt):
        go_on(desk)
    step, detail = newest(desk)
    assert (step.status, step.recovered) == ("interrupted", True)
    assert "before the branch was moved" in step.reason
    assert (detail.message, detail.commit_sha) == ("[siding] impl: more", "")
    assert head(desk) == at


def test_cut_off_after_the_branch_it_is_finished(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(desk)

    def killed(*_arguments: object, **_more: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(move_plan, "agree_index", killed)
    with pytest.raises(KeyboardInterrupt):
        go_on(desk)
    at = head(desk)
    step, detail = newest(desk)
    assert (step.status, step.recovered) == ("completed", True)
    assert detail.commit_sha == at
    assert step.commits == (at,)


def test_a_move_whose_step_cannot_be_recorded_is_told_and_recorded_later(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(desk)
    with monkeypatch.context() as broken:

        def full(*_arguments: object, **_more: object) -> None:
            raise OSError(28, "No space left on device")

        broken.setattr(Recorder, "finish", full)
        done = go_on(desk)
    assert "No space left on device" in done.kept_by
    assert done.entry.git_commit == head(desk)
    step, detail = newest(desk)
    assert (step.status, detail.commit_sha) == ("completed", done.entry.git_commit)
