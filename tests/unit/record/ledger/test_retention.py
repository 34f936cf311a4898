"""Which steps' snapshots may be freed: the rule, for any ledger."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from siding.record.ledger.freed import freeable
from siding.record.ledger.step import Step, step_from

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BEFORE = NOW - timedelta(days=90)
KINDS = ("run", "run", "apply", "checkpoint", "phase", "rollback", "merge", "of a newer version")


def sha(number: int) -> str:
    return f"{number:040x}"


@st.composite
def ledgers(draw: st.DrawFn) -> list[Step]:
    """Steps of any kinds and ages; a rollback goes to any step before it."""
    steps: list[Step] = []
    for number in range(1, draw(st.integers(1, 12)) + 1):
        kind = draw(st.sampled_from(KINDS))
        days = draw(st.sampled_from((1, 89, 91, 300)))
        line: dict[str, Any] = {
            "step_id": f"{number:04d}",
            "kind": "rollback" if kind == "merge" else kind,
            "status": "completed",
            "ended_at": (NOW - timedelta(days=days)).isoformat(),
            "snapshot": draw(st.one_of(st.just(sha(number)), st.just(sha(max(1, number - 1))))),
            "parent": sha(number - 1),
        }
        if kind == "rollback":
            target = draw(st.integers(0, number - 1))
            line |= {"parts": "all", "on": f"{target:04d}" if target else "base"}
            line |= {"snapshot": sha(target), "restored": sha(target)}
        if kind == "merge":
            line["merged"] = {"branch": "main", "commit": "", "base": sha(90 + number)}
        if kind == "checkpoint":
            line["origin"] = draw(st.sampled_from(("asked", "outside")))
        if draw(st.booleans()) and number > 1:
            line["returns"] = sha(draw(st.integers(1, number - 1)))
        steps.append(step_from(line))
    return steps


def is_young(step: Step) -> bool:
    return datetime.fromisoformat(step.ended_at) >= BEFORE


@given(ledgers(), st.booleans())
def test_what_must_stay_stays(steps: list[Step], is_open: bool) -> None:
    gone = freeable(steps, before=BEFORE, is_open=is_open)
    assert steps[-1].snapshot not in gone
    for step in steps:
        if is_young(step) or step.kind in ("apply", "of a newer version") or step.merged:
            named = {step.snapshot, step.parent, step.returns, step.line.get("restored")}
            assert named.isdisjoint(gone), step
    for snapshot, of in gone.items():
        assert {step.id for step in of} == {s.id for s in steps if s.snapshot == snapshot}


@given(ledgers())
def test_an_open_task_loses_no_more_than_a_closed_one(steps: list[Step]) -> None:
    still_open = freeable(steps, before=BEFORE, is_open=True)
    assert still_open.keys() <= freeable(steps, before=BEFORE, is_open=False).keys()


@given(ledgers())
def test_a_closed_task_keeps_nothing_else(steps: list[Step]) -> None:
    gone = freeable(steps, before=BEFORE, is_open=False)
    if all(step.kind in ("run", "checkpoint", "phase") and not is_young(step) for step in steps):
        assert gone.keys() == {step.snapshot for step in steps} - {steps[-1].snapshot}


def test_times_that_are_not_known_are_young() -> None:
    lines = [{"step_id": n, "kind": "run", "snapshot": sha(n)} for n in (1, 2)]
    for at in ("", "yesterday", "2001-01-01T00:00:00"):
        steps = [step_from({**line, "ended_at": at}) for line in lines]
        assert freeable(steps, before=BEFORE, is_open=False) == {}


def test_what_is_lost_cannot_be_freed() -> None:
    old = "2001-01-01T00:00:00+00:00"
    steps = [
        step_from({"step_id": n, "kind": "run", "snapshot": sha(n), "ended_at": old})
        for n in (1, 2, 3)
    ]
    assert freeable(steps, before=BEFORE, is_open=False, lost=1).keys() == {sha(2)}
