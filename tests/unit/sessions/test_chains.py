"""Which end is chosen, and what leads to it: the laws, against a model."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from siding.sessions.reading.chains import EndRule, branches, chain, choose_end, has_circle, leaves
from siding.sessions.reading.tree import tree_of

from .building import called, result, said


def test_the_last_message_is_not_lost_when_two_share_a_millisecond() -> None:
    tree = tree_of([said("u1", None, 1), said("a1", "u1", 2, "assistant"), said("u2", "a1", 2)])
    assert [head.uuid for head in chain(tree)] == ["u1", "a1", "u2"]


def test_messages_without_a_time_are_in_the_order_of_the_file() -> None:
    odd = said("a1", "u1", 2, "assistant", timestamp="yesterday")
    tree = tree_of([said("u1", None, 1), odd, said("u2", "a1", 3)])
    assert [head.uuid for head in chain(tree)] == ["u1", "a1", "u2"]
    last = said("u3", "a1", 4)
    del last["timestamp"]
    tree = tree_of([said("u1", None, 1), odd, said("u2", "a1", 3), last])
    assert [head.uuid for head in chain(tree)] == ["u1", "a1", "u3"]
    for rule in EndRule:
        assert choose_end(tree_of([odd]), rule) is not None


def test_without_any_times_the_last_end_in_the_file_is_the_end() -> None:
    records = [
        said("u1", None, 1),
        said("a1", "u1", 2, "assistant"),
        said("u2", "a1", 3),
        said("u3", "a1", 4),
        said("a3", "u3", 5, "assistant"),
    ]
    for record in records:
        del record["timestamp"]
    for rule in EndRule:
        assert [head.uuid for head in chain(tree_of(records), rule)] == ["u1", "a1", "u3", "a3"]


def test_side_lines_are_ends_for_some_readers_only() -> None:
    side = said("x1", None, 9, isSidechain=True, agentId="ag")
    tree = tree_of([said("u1", None, 1), side])
    ends = {rule: end.uuid for rule in EndRule if (end := choose_end(tree, rule))}
    assert ends == {
        EndRule.SESSION: "u1",
        EndRule.LISTED: "x1",
        EndRule.FILE: "x1",
        EndRule.PATH: "u1",
    }


def test_a_system_line_behind_an_answered_message_makes_no_end() -> None:
    tree = tree_of(
        [
            said("u1", None, 1),
            said("a1", "u1", 2, "assistant"),
            said("s1", "u1", 3, "system"),
            said("s2", "a1", 4, "system"),
        ]
    )
    assert [head.uuid for head in leaves(tree)] == ["a1"]
    assert [[head.uuid for head in each] for each in branches(tree)] == [["u1", "a1", "s2"]]


def test_results_of_parallel_calls_come_back_in_order_of_time() -> None:
    tree = tree_of(
        [
            said("u1", None, 1),
            called("a1", "u1", 2, "t1", answer="M"),
            called("a2", "a1", 2, "t2", answer="M"),
            called("a3", "a2", 2, "t3", answer="M"),
            result("r3", "a3", 5, "t3"),
            result("r1", "a1", 4, "t1"),
            result("r2", "a2", 3, "t2"),
            said("a4", "r3", 6, "assistant"),
        ]
    )
    assert [head.uuid for head in chain(tree)] == [
        "u1",
        "a1",
        "a2",
        "a3",
        "r2",
        "r1",
        "r3",
        "a4",
    ]


def test_circles_end_the_walk_and_are_told() -> None:
    tree = tree_of([said("u1", "u2", 1), said("u2", "u1", 2)])
    end = choose_end(tree)
    assert end is not None
    assert has_circle(tree, end)
    assert [head.uuid for head in chain(tree)] == ["u1", "u2"]


NAMES = [f"m{number}" for number in range(12)]


@st.composite
def _records(draw: st.DrawFn) -> list[dict[str, object]]:
    count = draw(st.integers(0, 12))
    return [
        said(
            draw(st.sampled_from(NAMES)),
            draw(st.sampled_from([None, "gone", *NAMES])),
            draw(st.integers(0, 5)),
            draw(st.sampled_from(["user", "assistant", "system", "attachment"])),
            isSidechain=draw(st.booleans()),
        )
        for _ in range(count)
    ]


@given(_records())
def test_a_chain_is_a_walk_from_the_newest_message_and_over_gaps(
    records: list[dict[str, object]],
) -> None:
    tree = tree_of(records)
    last: dict[str, dict[str, object]] = {}
    for record in records:
        last[str(record["uuid"])] = record
    main = [each for each in last.values() if not each["isSidechain"]]
    if not main:
        assert chain(tree) == []
        return
    found = chain(tree)
    newest = max(str(each["timestamp"]) for each in main)
    end = choose_end(tree)
    assert end is not None
    assert last[end.uuid]["timestamp"] == newest
    model: list[str] = []
    current: str | None = end.uuid
    while current in last and current not in model:
        model.append(current)
        parent: Any = last[current]["parentUuid"]
        if parent is not None and parent not in last and not last[current]["isSidechain"]:
            earlier = list(last)[: list(last).index(current)]
            parent = next((each for each in earlier[::-1] if not last[each]["isSidechain"]), None)
        current = parent
    assert [head.uuid for head in found] == model[::-1]


@given(_records())
def test_every_end_is_spoken_and_nothing_is_said_behind_it(
    records: list[dict[str, object]],
) -> None:
    tree = tree_of(records)
    for end in leaves(tree):
        assert end.is_spoken
        assert not any(each.parent == end.uuid and each.is_spoken for each in tree.heads.values())
