"""What a line says of its step, of any version and of other tools."""

from typing import Any

import pytest

from siding.record.ledger.step import (
    ApplyRedoStep,
    ApplyStep,
    ApplyUndoStep,
    CheckpointStep,
    ForeignStep,
    MergeStep,
    PhaseStep,
    RedoStep,
    RollbackStep,
    RunStep,
    Step,
    StepKind,
    StepStatus,
    TurnStep,
    UndoStep,
    number_of,
    step_from,
)


def step(**fields: Any) -> Step:
    return step_from({"step_id": "0012", "kind": "run", **fields})


def test_a_line_that_says_little_is_a_step_all_the_same() -> None:
    bare = step()
    assert bare == RunStep(
        number=12,
        kind="run",
        status="completed",
        started_at="",
        ended_at="",
        duration_ms=0,
        exit_code=None,
        cmd=(),
        message="",
        snapshot=None,
        parent=None,
        files=0,
        additions=0,
        deletions=0,
        modes=0,
        complete=True,
        line={"step_id": "0012", "kind": "run"},
    )
    assert bare.id == "0012"
    assert (bare.title, bare.reason, bare.agent, bare.commits) == ("", "", "", ())
    assert (bare.coverage, bare.isolation, bare.policy_events) == (None, None, ())
    assert (bare.artifacts, bare.patch_sha256, bare.returns) == ({}, None, None)
    assert not bare.is_chained
    assert bare.reversal.of is None


def test_what_a_line_says_is_read() -> None:
    full = step(
        status="odd",
        started_at="then",
        ended_at="now",
        duration_ms=5,
        exit_code=3,
        cmd=["a b", "c"],
        message="said",
        snapshot="s",
        parent="p",
        diff_stat={"files": 1, "additions": 2, "deletions": 3, "file_list": ["x"]},
        mode_count=4,
        coverage={"complete": False},
        reason="why",
        agent="claude",
        commits=["1", 2],
        artifacts={"patch": "artifacts/p", "output": None},
        patch_sha256="h",
        returns="r",
        prev="x",
        undoes="0003",
    )
    assert (full.status, full.started_at, full.ended_at, full.duration_ms) == (
        "odd",
        "then",
        "now",
        5,
    )
    assert (full.exit_code, full.cmd, full.message) == (3, ("a b", "c"), "said")
    assert (full.snapshot, full.parent, full.complete) == ("s", "p", False)
    assert (full.files, full.additions, full.deletions, full.modes) == (1, 2, 3, 4)
    assert full.diff_stat.file_list == ("x",)
    assert full.title == "'a b' c"
    assert (full.reason, full.agent, full.commits) == ("why", "claude", ("1",))
    assert full.artifacts == {"patch": "artifacts/p", "output": ""}
    assert (full.patch_sha256, full.returns, full.is_chained) == ("h", "r", True)
    assert full.reversal.of == "0003"
    assert full.coverage is not None
    assert not full.coverage.complete


@pytest.mark.parametrize(
    ("exit_code", "status"),
    [
        (None, StepStatus.COMPLETED),
        (0, StepStatus.COMPLETED),
        (1, StepStatus.FAILED),
        (-1, StepStatus.TIMEOUT),
        (-9, StepStatus.FAILED),
    ],
)
def test_a_line_without_a_status_has_that_of_its_exit_code(
    exit_code: int | None, status: StepStatus
) -> None:
    assert step(exit_code=exit_code).status == status
    assert step(exit_code=exit_code, status="").status == status
    assert step(exit_code=exit_code, status="interrupted").status == "interrupted"


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"cmd": ["make"], "message": "m", "target": "t"}, "make"),
        ({"message": "m", "commit_message": "c", "target": "t"}, "m"),
        ({"commit_message": "c", "target": "t"}, "c"),
        ({"target": "t", "mode": "squash"}, "t"),
        ({"mode": "squash"}, "squash"),
    ],
)
def test_the_title_says_what_the_step_did(fields: dict[str, Any], title: str) -> None:
    assert step(**fields).title == title


@pytest.mark.parametrize(
    "line",
    [{}, {"step_id": "0001"}, {"kind": "run"}, {"step_id": "x", "kind": "run"}, {"step_id": None}],
)
def test_what_is_no_step_is_refused(line: dict[str, Any]) -> None:
    for read in (number_of, step_from):
        with pytest.raises(ValueError, match="not a step"):
            read(line)


def test_each_kind_has_what_only_it_has() -> None:
    for kind in StepKind:
        found = step(kind=kind.value)
        parts = {
            StepKind.RUN: found.as_run,
            StepKind.APPLY: found.as_apply,
            StepKind.ROLLBACK: found.as_rollback,
            StepKind.CHECKPOINT: found.as_checkpoint,
        }
        assert [each for each in parts if parts[each] is not None] == [kind] * (kind in parts)
        assert (found.goes_back, found.merged) == (kind is StepKind.ROLLBACK, None)


@pytest.mark.parametrize(
    ("line", "kind", "shown"),
    [
        ({"kind": "run", "merged": {"branch": "b"}}, RunStep, "run"),
        ({"kind": "checkpoint", "origin": "asked"}, CheckpointStep, "checkpoint"),
        ({"kind": "checkpoint", "session": "s"}, CheckpointStep, "checkpoint"),
        ({"kind": "checkpoint", "run": "r1"}, TurnStep, "turn"),
        ({"kind": "checkpoint", "run": "r1", "moment": "call"}, TurnStep, "call"),
        ({"kind": "checkpoint", "agent": "claude", "session": "s"}, TurnStep, "turn"),
        ({"kind": "apply", "merged": {"branch": "b"}}, ApplyStep, "apply"),
        ({"kind": "apply", "undoes": "0001"}, ApplyUndoStep, "undo"),
        ({"kind": "apply", "redoes": "0001"}, ApplyRedoStep, "redo"),
        ({"kind": "rollback", "merged": "main"}, RollbackStep, "rollback"),
        ({"kind": "rollback", "undoes": ""}, RollbackStep, "rollback"),
        ({"kind": "rollback", "undoes": "0001"}, UndoStep, "undo"),
        ({"kind": "rollback", "redoes": "0001"}, RedoStep, "redo"),
        ({"kind": "rollback", "merged": {"branch": "b"}}, MergeStep, "merge"),
        ({"kind": "rollback", "merged": {"branch": "b", "base": "s"}}, MergeStep, "sync"),
        ({"kind": "phase"}, PhaseStep, "phase"),
        ({"kind": "dream"}, ForeignStep, "dream"),
    ],
)
def test_a_line_becomes_a_step_of_its_kind(
    line: dict[str, Any], kind: type[Step], shown: str
) -> None:
    found = step(**line)
    assert type(found) is kind
    assert found.kind_shown == shown
    assert found.goes_back == (kind in (RollbackStep, UndoStep, RedoStep))
    assert (found.merged is not None, found.syncs) == (kind is MergeStep, shown == "sync")


def test_a_detail_is_parsed_once() -> None:
    found = step(prompt="p", usage={"m": {"input": 3}}, since="0004", wire={})
    assert found.detail is found.detail
    assert found.as_run is found.detail
    assert found._replace(number=1).as_run is not found.as_run
    assert (found.usage, found.wire) == (found.as_run.usage, found.as_run.wire)
    assert found.since == found.as_run.since


@pytest.mark.parametrize(
    ("report", "is_told"),
    [
        (None, False),
        ([], False),
        ({}, False),
        ({"changes": []}, False),
        ({"changes": [{"path": "x"}]}, True),
    ],
)
def test_what_changed_outside_is_told_where_something_did(report: object, is_told: bool) -> None:
    assert (step(isolation=report).isolation is not None) == is_told


def test_the_rules_that_matched_are_read() -> None:
    (event,) = step(policy_events=[3, {"rule": "r"}]).policy_events
    assert event.as_record()["rule"] == "r"
