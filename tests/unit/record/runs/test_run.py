"""A run as a value: it comes back from its document as it was, whatever else is in there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.record.runs.run import ProcessMark, Run, is_run_id, run_number

TEXT = st.text(max_size=20)
MARKS = st.builds(ProcessMark, pid=st.integers(1, 1 << 22), started=st.integers(0, 1 << 40))
RUNS = st.builds(
    Run,
    number=st.integers(1, 10**6),
    started_at=TEXT,
    cmd=st.lists(TEXT, min_size=1, max_size=3).map(tuple),
    cwd=TEXT,
    token=TEXT,
    boot=TEXT,
    host=MARKS,
    command=st.just(ProcessMark()) | MARKS,
    keeper=st.just(ProcessMark()) | MARKS,
    agent=st.none() | st.text(min_size=1, max_size=9),
    name=TEXT,
    since=TEXT,
    is_recorded=st.booleans(),
    asks=st.just({}) | st.just({"first": "trust", "env": {"HOME": "/x"}}),
    rest=st.dictionaries(st.sampled_from(["turns", "ports"]), st.integers(), max_size=2),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(RUNS)
def test_a_run_comes_back_as_it_was_written(run: Run) -> None:
    assert Run.from_record(run.number, run.as_record()) == run


@given(st.dictionaries(st.sampled_from([*Run._fields, "run", "recorded"]), JSON))
def test_a_field_of_another_type_counts_as_missing(record: dict[str, object]) -> None:
    run = Run.from_record(3, record)
    assert run.id == "r3"
    assert isinstance(run.host.pid, int)
    assert isinstance(run.title, str)


@pytest.mark.parametrize(("named", "number"), [("r1", 1), ("r12", 12), ("r999999999", 999999999)])
def test_an_id_has_its_number(named: str, number: int) -> None:
    assert run_number(named) == number
    assert is_run_id(named)


@pytest.mark.parametrize(
    "named", ["", "r", "7", "R7", "rr", "r7x", "r-7", "r٣", "r0", "r1000000000"]
)
def test_other_texts_are_no_ids(named: str) -> None:
    assert not is_run_id(named)
