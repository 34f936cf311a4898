"""What only steps of one kind have: read back as written, and no line is an error."""

import json
from inspect import getattr_static
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.record.ledger.draft import Draft, detail_from
from siding.record.ledger.figures import DiffFigures
from siding.record.ledger.kinds import ForeignDetail, Reversal, StepKind, StepStatus
from siding.record.ledger.move_details import (
    ApplyDetail,
    ConflictedPath,
    LeftAlone,
    LeftCommit,
    MergedBranch,
    PhaseDetail,
    RollbackDetail,
)
from siding.record.ledger.reports import (
    HookReport,
    IsolationReport,
    LeftProcess,
    OutputReport,
    OutsideChange,
    PolicyEvent,
    ProcessReport,
    RefusedHost,
    SandboxReport,
    WireReport,
)
from siding.record.ledger.run_details import CheckpointDetail, RunDetail
from siding.record.ledger.step import step_from
from siding.record.ledger.step_fields import Said
from siding.record.ledger.usage import UsedTokens

if TYPE_CHECKING:
    from siding.record.ledger.draft import Detail

TEXT = st.text(max_size=4)
NAME = st.text(min_size=1, max_size=4)
NUMBER = st.integers(-3, 1 << 40)


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=2).map(tuple)


REVERSALS = st.builds(Reversal, undoes=st.none() | NAME, redoes=st.none() | NAME)
LEFT = some(st.builds(LeftAlone, TEXT, TEXT))
PROCESSES = some(st.builds(LeftProcess, NUMBER, TEXT, NUMBER))
EVENTS = some(st.builds(PolicyEvent, TEXT, TEXT, TEXT, TEXT, TEXT, some(TEXT), st.none() | NAME))
USAGES = st.dictionaries(
    TEXT, st.builds(UsedTokens, *[st.integers(0, 9)] * len(UsedTokens._fields)), max_size=2
)
COUNTS = st.dictionaries(TEXT, NUMBER, max_size=2)
WIRES = st.builds(
    WireReport,
    metered=st.booleans(),
    requests=NUMBER,
    statuses=COUNTS,
    errors=COUNTS,
    usage=USAGES,
    refused=some(st.builds(RefusedHost, TEXT, NUMBER, NUMBER, TEXT)),
    ended_at=TEXT,
    sha256=TEXT,
)
RUNS = st.builds(
    RunDetail,
    cmd=some(TEXT),
    cwd=TEXT,
    env=st.dictionaries(TEXT, TEXT, max_size=2),
    timeout_s=st.none() | st.floats(0, 9),
    ending=TEXT,
    child_exit_code=st.none() | NUMBER,
    output=st.none()
    | st.builds(OutputReport, TEXT, st.none() | NUMBER, st.none() | NUMBER, TEXT, st.booleans()),
    notes=some(TEXT),
    processes=st.builds(ProcessReport, PROCESSES, PROCESSES, PROCESSES),
    hooks=some(st.builds(HookReport, TEXT, TEXT, TEXT, NUMBER, TEXT)),
    sandbox=st.none()
    | st.builds(SandboxReport, TEXT, NAME, TEXT, TEXT, TEXT, some(TEXT), TEXT)
    | st.builds(
        lambda *said: SandboxReport(said[0], None, said[1], reason=said[2]), TEXT, TEXT, TEXT
    ),
    limits=st.dictionaries(TEXT, NUMBER, max_size=2),
    isolation=st.none()
    | st.builds(
        IsolationReport,
        some(st.builds(OutsideChange, TEXT, TEXT, TEXT, TEXT, st.none() | NAME, st.none() | NAME)),
        TEXT,
    ),
    usage=USAGES,
    wire=st.none() | WIRES,
    retries=TEXT,
    returns=st.none() | NAME,
)
ROLLBACKS = st.builds(
    RollbackDetail,
    target=TEXT,
    target_step=st.none() | NAME,
    message=TEXT,
    hard=st.booleans(),
    restored=st.none() | NAME,
    paths=some(TEXT),
    trash=st.none() | NAME,
    trash_before=some(TEXT),
    brought_back=some(TEXT),
    left=LEFT,
    merged=st.none()
    | st.builds(MergedBranch, TEXT, TEXT, some(st.builds(ConflictedPath, TEXT, TEXT))),
    reversal=REVERSALS,
    returns=st.none() | NAME,
    parts=st.sampled_from(["", "all"]),
    retries=TEXT,
)
APPLIES = st.builds(
    ApplyDetail,
    mode=TEXT,
    message=TEXT,
    commit_sha=TEXT,
    commit_message=TEXT,
    target_branch=TEXT,
    target_before=TEXT,
    commits=some(TEXT),
    whole=st.booleans(),
    head=st.none() | NAME,
    applied=st.none() | st.builds(DiffFigures, NUMBER, NUMBER, NUMBER, some(TEXT)),
    steps=TEXT,
    paths=some(TEXT),
    left_out=LEFT,
    gone_back=some(st.builds(LeftCommit, TEXT, TEXT)),
    proven_by=TEXT,
    reversal=st.just(Reversal()),
    move=st.none() | st.dictionaries(TEXT, TEXT, min_size=1, max_size=2),
    reflog=TEXT,
) | st.builds(lambda message, of: ApplyDetail(message=message, reversal=of), TEXT, REVERSALS)
DETAILS: "st.SearchStrategy[Detail]" = (
    RUNS
    | ROLLBACKS
    | APPLIES
    | st.builds(CheckpointDetail, TEXT, TEXT, usage=USAGES, wire=st.none() | WIRES)
    | st.builds(PhaseDetail, TEXT, TEXT, TEXT, NUMBER, TEXT, TEXT)
)
DRAFTS = st.builds(
    Draft,
    detail=DETAILS | st.just(ForeignDetail("dream")),
    status=TEXT,
    exit_code=st.none() | NUMBER,
    ended_at=TEXT,
    duration_ms=st.none() | NUMBER,
    reason=TEXT,
    agent=st.none() | NAME,
    policy_events=EVENTS,
    recovered=st.booleans(),
    rest=st.dictionaries(st.sampled_from(["sooner", "later"]), st.integers(), max_size=2),
)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
FIELDS = sorted(
    {
        *RunDetail._fields,
        *RollbackDetail._fields,
        *ApplyDetail._fields,
        *PhaseDetail._fields,
        *Draft._fields,
        "undoes",
        "redoes",
        "coverage",
        "diff_stat",
        "artifacts",
        "commits",
    }
)


@given(DETAILS)
def test_a_detail_is_read_back_from_a_line(detail: "Detail") -> None:
    line = json.loads(json.dumps(detail.as_record()))
    assert detail_from(detail.kind, line) == detail


@given(DRAFTS)
def test_a_draft_is_read_back_from_an_intent(draft: Draft) -> None:
    assert Draft.from_record(draft.kind, json.loads(json.dumps(draft.as_record()))) == draft


@given(st.sampled_from([*StepKind, "dream"]), st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_no_field_is_an_error_whatever_is_in_it(kind: str, fields: dict[str, Any]) -> None:
    line = {**fields, "step_id": "0001", "kind": str(kind), "later": [1]}
    assert Draft.from_record(str(kind), line).as_record()["later"] == [1]
    step = step_from(line)
    for name in dir(type(step)):
        if isinstance(getattr_static(step, name), property | Said):
            getattr(step, name)
    assert step.line == line


@pytest.mark.parametrize("kind", [*StepKind, "dream"])
def test_a_detail_belongs_to_its_kind(kind: str) -> None:
    assert detail_from(kind, {}).kind == kind
    step = step_from({"step_id": "0001", "kind": str(kind)})
    known = [step.as_run, step.as_apply, step.as_rollback, step.as_checkpoint]
    assert [each for each in known if each is not None] == (
        [] if kind in ("dream", StepKind.PHASE) else [step.detail]
    )


def test_what_is_not_said_is_nothing() -> None:
    assert PhaseDetail() == PhaseDetail("", "", "", 0, "", "")
    draft = Draft(CheckpointDetail())
    assert (draft.recovered, draft.title, draft.status) == (False, "", "")


def test_a_merge_into_the_workspace_goes_back_nowhere() -> None:
    line = {"step_id": "0001", "kind": "rollback", "target": "merge"}
    merge = step_from({**line, "merged": {"branch": "main", "commit": "1"}})
    assert merge.merged is not None
    assert (merge.goes_back, merge.kind_shown) == (False, "merge")
    back = step_from(line)
    assert (back.merged, back.goes_back, back.kind_shown) == (None, True, "rollback")


@pytest.mark.parametrize(
    ("said", "read"), [("0003", "0003"), (3, "0003"), (None, None), ("", None)]
)
def test_a_step_may_be_named_by_its_number(said: object, read: str | None) -> None:
    step = step_from({"step_id": "0004", "kind": "rollback", "target": "step", "target_step": said})
    assert step.as_rollback is not None
    assert step.as_rollback.target_step == read


def test_a_draft_that_did_what_it_was_to_do_is_completed() -> None:
    assert Draft(CheckpointDetail()).completed().status == StepStatus.COMPLETED
    assert Draft(RunDetail(cmd=("a b", "c"))).title == "'a b' c"
