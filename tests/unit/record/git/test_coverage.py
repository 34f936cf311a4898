"""The report of a snapshot is read back as it was written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.record.snapshots.coverage import Coverage, Reason, Skipped

PATH = st.binary(min_size=1, max_size=6).filter(lambda path: b"\0" not in path)
PATHS = st.lists(PATH, max_size=2).map(tuple)
COUNT = st.integers(0, 9)
SKIPPED = st.builds(Skipped, PATH, st.sampled_from([*Reason, "a newer reason"]), st.none() | COUNT)
REPORTS = st.builds(
    Coverage,
    skipped=st.lists(SKIPPED, max_size=2).map(tuple),
    nested=PATHS,
    special=PATHS,
    special_count=COUNT,
    empty_dirs=PATHS,
    empty_dir_count=COUNT,
    ignored=PATHS,
    ignored_count=COUNT,
    unstable=PATHS,
    foreign=PATHS,
    foreign_count=COUNT,
    sparse=COUNT,
    notes=st.lists(st.text(max_size=3), max_size=2).map(tuple),
    lacks_more=st.just(False),
)


@given(REPORTS)
def test_a_report_is_read_back(report: Coverage) -> None:
    assert Coverage.from_record(json.loads(json.dumps(report.as_record()))) == report


def test_what_is_incomplete_for_a_reason_nobody_knows_stays_incomplete() -> None:
    report = Coverage.from_record({"complete": False, "later": ["x"]})
    assert not report.complete
    assert Coverage.from_record(report.as_record()) == report


def test_a_part_that_is_not_as_expected_is_left_out() -> None:
    odd = {"skipped": [1, {"path": '"half'}], "nested": "x", "sparse": "y", "notes": {}}
    report = Coverage.from_record({"complete": True, **odd})
    assert report == Coverage(skipped=(Skipped(b'"half', ""),))


@pytest.mark.parametrize(
    ("report", "complete"),
    [
        (Coverage(), True),
        (Coverage(skipped=(Skipped(b"a", Reason.TOO_LARGE),)), False),
        (Coverage(nested=(b"a",)), False),
        (Coverage(unstable=(b"a",)), False),
        (Coverage(foreign=(b"a",)), False),
        (Coverage(lacks_more=True), False),
        (Coverage(special=(b"a",), empty_dirs=(b"b",), ignored=(b"c",), linked=(b"d",)), True),
    ],
    ids=str,
)
def test_what_makes_a_snapshot_incomplete(report: Coverage, complete: bool) -> None:
    assert report.complete is complete
    assert report.as_record()["complete"] is complete


def test_a_record_that_does_not_say_so_is_complete() -> None:
    assert Coverage.from_record({}) == Coverage()
    assert Coverage.from_record({"nested": ["a"], "complete": False}).lacks_more is False
