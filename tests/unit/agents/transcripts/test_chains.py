"""Which end is chosen, and what leads to it: the laws, against a model."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from siding.agents.transcripts.heads import MessageHead
from siding.agents.transcripts.reading.chains import (
    EndRule,
    agent_chain,
    branches,
    chain,
    chain_to,
    choose_end,
    has_circle,
    history,
    leaves,
)
from siding.agents.transcripts.reading.tree import tree_of

from .building import called, result, said


def ids(heads: Iterable[MessageHead]) -> list[str]:
    return [head.uuid for head in heads]


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


def test_a_way_that_does_not_come_back_is_no_circle() -> None:
    tree = tree_of(
        [said("u1", "gone", 1), said("u2", "u1", 2), said("x", "y", 3), said("y", "x", 4)]
    )
    assert not has_circle(tree, tree.heads["u2"])
    assert has_circle(tree, tree.heads["x"])
    behind = tree_of([said("x", "y", 1), said("y", "x", 2), said("z", "y", 3)])
    assert has_circle(behind, behind.heads["z"])


def test_of_equally_new_ends_the_first_in_the_file_is_meant() -> None:
    tree = tree_of([said("u1", None, 1), said("a", "u1", 2), said("b", "u1", 2)])
    assert ids(chain(tree)) == ["u1", "a"]
    circle = tree_of([said("u1", "u2", 1), said("u2", "u1", 1)])
    assert ids(chain(circle)) == ["u2", "u1"]


def test_a_message_behind_which_something_is_said_is_no_end_whatever_lies_between() -> None:
    tree = tree_of([said("u1", None, 1), said("s1", "u1", 2, "system"), said("u2", "s1", 3)])
    assert ids(leaves(tree)) == ["u2"]
    assert [ids(each) for each in branches(tree)] == [["u1", "s1", "u2"]]


def test_a_branch_has_what_directly_follows_its_end_in_order_of_time() -> None:
    tree = tree_of(
        [
            said("u1", None, 1),
            said("a1", "u1", 2, "assistant"),
            said("s2", "a1", 5, "system"),
            said("s1", "a1", 4, "system"),
            said("s3", "s1", 6, "system"),
            said("b1", "u1", 3, "assistant"),
            said("t1", "b1", 7, "system"),
        ]
    )
    assert [ids(each) for each in branches(tree)] == [
        ["u1", "a1", "s1", "s2"],
        ["u1", "b1", "t1"],
    ]


def test_the_history_goes_on_before_each_compaction() -> None:
    records = [
        said("u1", None, 1),
        said("a1", "u1", 2, "assistant"),
        said("c1", None, 3, "system", subtype="compact_boundary", logicalParentUuid="a1"),
        said("u2", "c1", 4),
        said("c2", None, 5, "system", subtype="compact_boundary", logicalParentUuid="u2"),
        said("u3", "c2", 6),
        said("a3", "u3", 7, "assistant"),
    ]
    tree = tree_of(records, settled=False)
    whole = ["u1", "a1", "c1", "u2", "c2", "u3", "a3"]
    assert ids(history(tree, tree.heads["a3"])) == whole
    assert ids(history(tree, tree.heads["u2"])) == whole[:4]
    assert ids(history(tree, tree.heads["a1"])) == whole[:2]


def test_a_history_that_leads_into_itself_says_everything_once() -> None:
    records = [
        said("c1", None, 1, "system", subtype="compact_boundary", logicalParentUuid="u2"),
        said("u1", "c1", 2),
        said("u2", "u1", 3),
    ]
    tree = tree_of(records, settled=False)
    assert ids(history(tree, tree.heads["u1"])) == ["u2", "c1", "u1"]
    assert ids(history(tree, tree.heads["u2"])) == ["c1", "u1", "u2"]


def test_a_subagent_has_its_own_messages_and_no_others() -> None:
    def by(uuid: str, parent: str | None, second: float, agent: str, side: bool = True) -> Any:
        return said(uuid, parent, second, isSidechain=side, agentId=agent)

    tree = tree_of(
        [
            said("u1", None, 1),
            by("x1", "u1", 2, "x"),
            by("x2", "x1", 3, "x"),
            by("y1", "u1", 4, "y"),
            by("x3", "x1", 2.5, "x"),
            by("m1", "u1", 9, "main", side=False),
        ]
    )
    found = agent_chain(tree, "x")
    assert found is not None
    assert ids(found) == ["x1", "x2"]
    assert ids(agent_chain(tree, "y") or ()) == ["y1"]
    assert agent_chain(tree, "z") is None
    assert agent_chain(tree, "main") is None


def test_the_end_of_a_subagent_is_a_message_that_nothing_follows() -> None:
    records = [
        said("x1", None, 5, isSidechain=True, agentId="x"),
        said("x2", "x1", 4, isSidechain=True, agentId="x"),
    ]
    assert ids(agent_chain(tree_of(records), "x") or ()) == ["x1", "x2"]


def test_the_other_lines_of_an_answer_come_back_behind_it() -> None:
    """Of the answer M, only its last line is on the way; other answers are not touched."""
    tree = tree_of(
        [
            said("u1", None, 1),
            called("a2", "u1", 3, "t2", answer="M"),
            called("a1", "u1", 2, "t1", answer="M"),
            called("a3", "u1", 4, "t3", answer="M"),
            result("r1", "a1", 5, "t1"),
            result("r3", "a3", 6, "t3"),
            said("end", "r3", 7, "assistant"),
            said("odd", "a1", 8),
            result("q", "u1", 9, "t9"),
            said("late", "u1", 10, "assistant"),
        ]
    )
    end = tree.heads["end"]
    assert ids(chain_to(tree, end)) == ["u1", "a3", "a1", "a2", "r1", "r3", "end"]


def test_what_a_person_says_is_no_line_of_an_answer_whatever_its_id() -> None:
    named = {"id": "M", "role": "user", "content": "words"}
    tree = tree_of(
        [
            said("u1", None, 1),
            called("a1", "u1", 2, "t1", answer="M"),
            called("a2", "u1", 3, "t2", answer="M"),
            said("u2", "a1", 4, message=named),
            said("odd", "u1", 5, message=named),
        ]
    )
    assert ids(chain_to(tree, tree.heads["u2"])) == ["u1", "a1", "a2", "u2"]


def test_lines_of_an_answer_without_results_come_back_too() -> None:
    tree = tree_of(
        [
            called("a1", None, 1, "t1", answer="M"),
            called("a2", "a1", 2, "t2", answer="M"),
            said("side", "a1", 3, "assistant", message={"id": "", "content": []}),
            called("a3", "a1", 4, "t3", answer="M"),
            said("other", "gone", 5, "assistant", message={"content": []}),
        ]
    )
    assert ids(chain_to(tree, tree.heads["a3"])) == ["a1", "a3", "a2"]
    assert ids(chain_to(tree, tree.heads["side"])) == ["a1", "a2", "a3", "side"]


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
