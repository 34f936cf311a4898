"""Lines between viewers and the hub."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.feed.hub_lines import BadLine, Cut, is_newer, item_in, line_of, line_of_item
from siding.feed.model import Change
from unit.feed.folds import feed, row


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=3)), st.data())
def test_lines_come_whole_however_they_are_cut(
    records: list[dict[str, str]], data: st.DataObject
) -> None:
    whole = b"".join(map(line_of, records))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    cut = Cut(1000)
    found: list[dict[str, str]] = []
    for begin, end in pairwise([0, *cuts, len(whole)]):
        found += cut.feed(whole[begin:end])
    assert found == records


@pytest.mark.parametrize("bad", [b"no json\n", b"[1]\n", b"\xff\n", b"\n", b"x" * 11])
def test_anything_else_is_refused(bad: bytes) -> None:
    with pytest.raises(BadLine):
        list(Cut(10).feed(bad))


def test_items_go_through_lines() -> None:
    whole, change = feed(row("1", name="\udcff"), epoch=3, seq=4), Change(3, 5, rows_gone=("1",))
    (first, second) = Cut(10_000).feed(line_of_item(whole) + line_of_item(change))
    assert item_in(first) == feed(row("1", name="?"), epoch=3, seq=4)
    assert item_in(second) == change
    assert item_in({"hub": 1}) is None
    unknown = whole.as_record() | {"rows": [row("1").as_record() | {"state": "dreams"}]}
    with pytest.raises(BadLine):
        item_in({"feed": unknown})


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("0.2.0", "0.1.0"),
        ("0.10.0", "0.9.9"),
        ("1.0", "1.0rc1"),
        ("1.0", "1.0.dev3"),
        ("1.0.1", "1.0"),
    ],
)
def test_versions_have_an_order(newer: str, older: str) -> None:
    assert is_newer(newer, older)
    assert not is_newer(older, newer)
    assert not is_newer(newer, newer)
