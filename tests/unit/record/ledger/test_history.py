"""Undo and redo, read from the steps: laws of the two stacks, and what an interruption means."""

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from siding.record.ledger.history import is_decided, position, returns_to
from siding.record.ledger.step import Step, step_from


def step(number: int, kind: str, **more: Any) -> Step:
    record = {
        "step_id": f"{number:04d}",
        "kind": kind,
        "status": "completed",
        "parent": f"s{number - 1}",
        "snapshot": f"s{number}",
        **more,
    }
    return step_from(record)


def names(steps: list[Step], **more: Any) -> tuple[list[str], list[str]]:
    found = position(steps, **more)
    undoable = [act.step.id if act.step else "closing" for act in found.undoable]
    redoable = [act.step.id if act.step else "closing" for act in found.redoable]
    return undoable, redoable


ACTS = st.lists(
    st.sampled_from(
        ["rollback", "apply", "run", "phase", "checkpoint", "undo", "redo", "idle", "look"]
    ),
    max_size=25,
)


@given(ACTS)
def test_it_is_the_two_stacks_of_an_editor(acts: list[str]) -> None:
    steps: list[Step] = []
    undoable: list[str] = []
    redoable: list[str] = []
    for number, act in enumerate(acts, start=1):
        if act == "undo" and undoable:
            redoable.append(undoable.pop())
            steps.append(step(number, "rollback", undoes=redoable[-1]))
        elif act == "redo" and redoable:
            undoable.append(redoable.pop())
            steps.append(step(number, "rollback", redoes=undoable[-1]))
        elif act in ("rollback", "apply", "run", "phase"):
            steps.append(step(number, act))
            undoable.append(steps[-1].id)
            redoable.clear()
        elif act == "checkpoint":
            steps.append(step(number, act))
            redoable.clear()
        elif act in ("idle", "look"):
            kind = "checkpoint" if act == "idle" else "run"
            steps.append(step(number, kind, snapshot=f"s{number - 1}"))
        assert names(steps) == (undoable, redoable)


@given(ACTS, st.integers(1, 20), st.none() | st.integers(0, 12))
def test_the_newest_steps_decide_only_what_all_steps_decide(
    acts: list[str], count: int, closed_after: int | None
) -> None:
    steps = recorded(acts)
    newest = steps[-count:]
    whole = position(steps, reopened_after=closed_after)
    part = position(newest, reopened_after=closed_after)
    for all_acts, some_acts in ((whole.undoable, part.undoable), (whole.redoable, part.redoable)):
        top = some_acts[-1] if some_acts else None
        if newest and is_decided(part, newest, top, reopened_after=closed_after):
            event("decided")
            assert top == all_acts[-1]
            assert (part.attempt, part.passed) == (whole.attempt, whole.passed)


def recorded(acts: list[str]) -> list[Step]:
    """Return steps of which an undo goes to the state before its act, with retries and attempts."""
    steps: list[Step] = []
    for turn, act in enumerate(acts):
        found = position(steps)
        before = f"s{len(steps)}"
        if act in ("undo", "redo"):
            stack = found.undoable if act == "undo" else found.redoable
            if stack and stack[-1].step:
                status = "interrupted" if turn % 5 == 0 else "completed"
                names = {f"{act}es": stack[-1].step.id, "status": status}
                steps.append(step(len(steps) + 1, "rollback", returns=before, **names))
        elif act == "phase":  # here: a retry, which is two steps
            steps.append(step(len(steps) + 1, "rollback", retries="0001"))
            again = {"retries": "0001", "returns": steps[-1].parent}
            steps.append(step(len(steps) + 1, "run", **again))
        elif act in ("idle", "look"):
            steps.append(step(len(steps) + 1, "run", snapshot=f"s{len(steps)}"))
        else:
            steps.append(step(len(steps) + 1, act))
    return steps


def test_a_checkpoint_takes_redo_away_only_if_something_had_changed() -> None:
    undone = [step(1, "rollback"), step(2, "rollback", undoes="0001")]
    assert names([*undone, step(3, "checkpoint", snapshot="s2")]) == ([], ["0001"])
    assert names([*undone, step(3, "checkpoint")]) == ([], [])
    assert names([*undone, step(3, "run", snapshot="s2")]) == ([], ["0001"])
    assert names([*undone, step(3, "run")]) == (["0003"], [])


def test_runs_that_changed_nothing_are_passed_over_and_named() -> None:
    idle = [step(3, "run", snapshot="s2"), step(4, "checkpoint", snapshot="s3")]
    steps = [step(1, "run"), step(2, "run"), *idle, step(5, "run", snapshot="s4")]
    found = position(steps)
    assert found.undoable[-1].step == steps[1]
    assert [each.id for each in found.passed] == ["0003", "0005"]
    assert position([*steps, step(6, "run")]).passed == ()
    assert position([*steps, step(6, "rollback", undoes="0002")]).passed == ()


def test_a_run_or_a_move_without_snapshots_cannot_be_undone() -> None:
    for kind in ("run", "phase"):
        assert names([step(1, kind, parent=None)]) == ([], [])
        assert names([step(1, kind, snapshot=None)]) == ([], [])
        assert names([step(1, kind, status="failed")]) == (["0001"], [])


def test_an_undo_that_was_cut_off_is_an_attempt() -> None:
    cut = step(2, "rollback", undoes="0001", status="interrupted", returns="s1")
    steps = [step(1, "rollback"), cut]
    assert names(steps) == (["0001"], [])
    attempt = position(steps).attempt
    assert attempt is not None
    assert returns_to(attempt) == "s1"
    assert position([*steps, step(3, "run")]).attempt is None
    assert names([*steps, step(3, "rollback", undoes="0001")]) == ([], ["0001"])


def test_a_rollback_that_was_cut_off_can_be_undone_and_a_failed_apply_not() -> None:
    assert names([step(1, "rollback", status="interrupted")]) == (["0001"], [])
    assert names([step(1, "apply", status="failed")]) == ([], [])


def test_a_rollback_that_failed_or_came_from_nowhere_cannot_be_undone() -> None:
    assert names([step(1, "rollback", status="failed")]) == ([], [])
    assert names([step(1, "rollback", parent=None)]) == ([], [])
    assert names([step(1, "rollback", parent=None, status="failed")]) == ([], [])


def test_what_was_opened_again_by_undo_can_be_closed_again() -> None:
    steps = [step(1, "rollback"), step(2, "checkpoint")]
    assert names(steps, reopened_after=2) == (["0001"], ["closing"])
    further = [*steps, step(3, "rollback", undoes="0001")]
    assert names(further, reopened_after=2) == ([], ["closing", "0001"])
    again = [*further, step(4, "rollback", redoes="0001")]
    assert names(again, reopened_after=2) == (["0001"], ["closing"])
    assert names([*again, step(5, "run")], reopened_after=2) == (["0001", "0005"], [])


def test_the_step_that_is_named_is_taken_back_wherever_it_stands() -> None:
    steps = [step(1, "rollback"), step(2, "rollback"), step(3, "rollback", undoes="0001")]
    assert names(steps) == (["0002"], ["0001"])
    more = [*steps, step(4, "rollback", undoes="0002"), step(5, "rollback", redoes="0001")]
    assert names(more) == (["0001"], ["0002"])


def test_a_step_that_nobody_knows_changes_nothing() -> None:
    assert names([step(1, "rollback", undoes="0009")]) == ([], [])
    assert names([step(1, "rollback"), step(2, "rollback", redoes="0009")]) == (["0001"], [])


def test_a_closing_is_passed_over_by_what_names_a_step() -> None:
    undone = [step(1, "rollback"), step(2, "rollback", undoes="0001")]
    again = [*undone, step(3, "rollback", redoes="0001")]
    assert names(again, reopened_after=2) == (["0001"], ["closing"])


def test_who_did_it_last_says_where_undo_leads() -> None:
    steps = [
        step(1, "rollback"),
        step(2, "rollback", undoes="0001"),
        step(3, "rollback", redoes="0001", returns="elsewhere"),
    ]
    (act,) = position(steps).undoable
    assert act.step is not None
    assert act.by is not None
    assert (act.step.id, act.by.id, returns_to(act.by)) == ("0001", "0003", "elsewhere")


def test_the_step_that_ended_a_line_of_redoing_is_named() -> None:
    steps = [step(1, "rollback"), step(2, "rollback", undoes="0001"), step(3, "run")]
    since = position(steps).since
    assert since is not None
    assert since.id == "0003"


def test_a_retry_is_one_act() -> None:
    back = step(3, "rollback", parent="s2", snapshot="s1", retries="0002")
    again = step(4, "run", parent="s1", snapshot="s4", retries="0002", returns="s2")
    steps = [step(1, "run"), step(2, "run"), back]
    assert names(steps) == (["0001", "0002", "0003"], [])
    assert names([*steps, again]) == (["0001", "0002", "0004"], [])
    act = position([*steps, again]).undoable[-1]
    assert act.by is not None
    assert returns_to(act.by) == "s2"
    for other in ({"retries": "0001"}, {"returns": "s9"}, {"returns": None}):
        loose = step(4, "run", **{"retries": "0002", "returns": "s2", **other})
        assert names([*steps, loose]) == (["0001", "0002", "0003", "0004"], []), other
    assert names([again]) == (["0004"], [])
