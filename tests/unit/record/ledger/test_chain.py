"""The hash chain: whatever is changed, removed, put in or swapped shows."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from siding.record.ledger.store import FIRST, breaks, link

records = st.lists(
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9)),
    min_size=1,
    max_size=8,
)


def chained(bodies: list[dict[str, Any]]) -> list[bytes]:
    lines: list[bytes] = []
    for body in bodies:
        record = {**body, "prev": link(lines[-1] if lines else None)}
        lines.append(json.dumps(record).encode())
    return lines


def broken(lines: list[bytes]) -> list[int]:
    return [each.line for each in breaks((line, json.loads(line)) for line in lines)]


@given(records)
def test_a_chain_as_written_holds(bodies: list[dict[str, Any]]) -> None:
    assert broken(chained(bodies)) == []


@given(records, st.data())
def test_a_changed_line_breaks_the_next(bodies: list[dict[str, Any]], data: st.DataObject) -> None:
    lines = chained([*bodies, {"last": 1}])
    at = data.draw(st.integers(0, len(lines) - 2))
    forged = {**json.loads(lines[at]), "forged": True}
    lines[at] = json.dumps(forged).encode()
    assert at + 2 in broken(lines)


@given(records, st.data())
def test_a_removed_line_shows(bodies: list[dict[str, Any]], data: st.DataObject) -> None:
    lines = chained([*bodies, {"last": 1}])
    at = data.draw(st.integers(0, len(lines) - 2))
    del lines[at]
    assert broken(lines)


def test_lines_of_the_bar_tool_may_come_first() -> None:
    old = [b'{"step_id": "0001"}', b'{"step_id": "0002"}']
    new = json.dumps({"step_id": "0003", "prev": link(old[-1])}).encode()
    assert broken([*old, new]) == []


def test_an_unchained_line_after_a_chained_one_shows() -> None:
    first = json.dumps({"prev": FIRST}).encode()
    assert broken([first, b'{"step_id": "0002"}']) == [2]


def test_damaged_lines_are_part_of_the_chain() -> None:
    damaged = b"\x00\x00garbage"
    after = json.dumps({"prev": link(damaged)}).encode()
    lines = [(damaged, None), (after, json.loads(after))]
    assert breaks(lines) == []
    first = json.dumps({"prev": FIRST}).encode()
    assert breaks([(first, json.loads(first)), *lines]) == []


def test_the_first_line_names_a_hash_of_noughts() -> None:
    assert FIRST == link(None) == "0" * len(link(b"a line"))
