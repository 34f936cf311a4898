"""Which commits were gone back from, as laws: against a model in which each state simply has its
commits, and where something is not known."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.record.ledger.history import position, returns_to
from siding.record.ledger.left_behind import (
    Return,
    abandoned_steps,
    left_behind,
    newest_clean,
    returns_in,
)
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


class Walk:
    """A task in which the agent commits on one line, and somebody goes back and forth.

    `good` is the model: the commits that belong to the state after each step.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.good: list[frozenset[str]] = [frozenset()]
        self.heads: dict[int, str | None] = {0: "base"}
        self.graph: dict[str, tuple[str, ...]] = {}
        self.head = "base"

    def add(self, kind: str, good: frozenset[str], **more: Any) -> None:
        number = len(self.steps) + 1
        self.steps.append(step(number, kind, **more))
        self.good.append(good)
        self.heads[number] = self.head

    def commit(self) -> None:
        new = f"c{len(self.graph)}"
        self.graph[new] = (self.head,)
        self.head = new
        self.add("run", self.good[-1] | {new})

    def rollback(self, to: int, **more: Any) -> None:
        target = {"target": "step", "target_step": f"{to:04d}"} if to else {"target": "base"}
        self.add("rollback", self.good[to], restored=f"s{to}", **target, **more)

    def back_or_forth(self, word: str) -> None:
        found = position(self.steps)
        acts = found.undoable if word == "undoes" else found.redoable
        if not acts or acts[-1].by is None or acts[-1].step is None:
            return
        snapshot = returns_to(acts[-1].by)
        assert snapshot is not None
        now = f"s{len(self.steps)}"
        self.rollback(int(snapshot[1:]), **{word: acts[-1].step.id, "returns": now})

    def left(self) -> frozenset[str]:
        returns = returns_in(self.steps, "s0")
        return left_behind(returns, self.heads, [self.head], self.graph)


ACTS = st.lists(st.one_of(st.sampled_from(["commit", "undo", "redo"]), st.integers(0, 8)))


@given(ACTS)
def test_a_state_has_the_commits_that_it_had(acts: list[str | int]) -> None:
    walk = Walk()
    for act in acts:
        if act == "commit":
            walk.commit()
        elif isinstance(act, int):
            walk.rollback(act % (len(walk.steps) + 1))
        else:
            walk.back_or_forth("undoes" if act == "undo" else "redoes")
        assert walk.left() == frozenset(walk.graph) - walk.good[-1]


@given(ACTS, st.sets(st.integers(0, 20)))
def test_what_is_not_known_never_makes_a_commit_good(acts: list[str | int], lost: set[int]) -> None:
    walk = Walk()
    for act in acts:
        if act == "commit":
            walk.commit()
        elif isinstance(act, int):
            walk.rollback(act % (len(walk.steps) + 1))
    known = walk.left()
    walk.heads = {number: None if number in lost else at for number, at in walk.heads.items()}
    assert walk.left() >= known


def test_a_part_and_what_was_cut_off_add_to_it() -> None:
    for more in ({"paths": ["a"]}, {"status": "interrupted"}):
        walk = Walk()
        walk.commit()
        walk.rollback(0)
        walk.rollback(1, **more)
        assert walk.left() == {"c0"}


def test_the_undo_of_a_part_takes_back_what_the_part_added() -> None:
    walk = Walk()
    walk.commit()
    walk.commit()
    walk.rollback(1)
    walk.rollback(0, paths=["a"])
    assert walk.left() == {"c0", "c1"}
    walk.rollback(3, paths=["a"], undoes="0004")
    assert walk.left() == {"c1"}
    walk.rollback(4, paths=["a"], redoes="0004")
    assert walk.left() == {"c0", "c1"}


def test_a_merge_that_is_to_be_resolved_goes_nowhere() -> None:
    walk = Walk()
    walk.commit()
    walk.add("rollback", frozenset(), target="merge", merged={"branch": "main"}, restored="m")
    assert walk.left() == frozenset()


def test_a_line_of_another_tool_says_less() -> None:
    walk = Walk()
    walk.commit()
    walk.add("rollback", frozenset(), target="somewhere")
    walk.commit()
    assert walk.left() == {"c0"}


def test_steps_that_led_nowhere() -> None:
    walk = Walk()
    walk.commit()
    walk.commit()
    walk.rollback(1)
    walk.commit()
    assert abandoned_steps(walk.steps, returns_in(walk.steps, "s0")) == {2}


def test_going_back_to_the_base_leads_everything_nowhere_and_a_part_nothing() -> None:
    steps = [step(1, "run"), step(2, "run"), step(3, "rollback", target="base", restored="s0")]
    assert abandoned_steps(steps, returns_in(steps, "s0")) == {1, 2}
    part = [*steps[:2], step(3, "rollback", target="base", restored="s0", paths=["a"])]
    assert abandoned_steps(part, returns_in(part, "s0")) == set()
    unknown = [*steps[:2], step(3, "rollback", target="somewhere")]
    assert abandoned_steps(unknown, returns_in(unknown, "s0")) == {1, 2}


def to_step(number: int, named: object, **more: Any) -> Step:
    return step(number, "rollback", target="step", target_step=named, **more)


@pytest.mark.parametrize(
    ("back", "to"),
    [
        (step(3, "rollback", target="base", restored="s0"), 0),
        (step(3, "rollback", target="base"), 0),
        (step(3, "rollback", target="base", restored="another"), None),
        (to_step(3, "0001", restored="s1"), 1),
        (to_step(3, "0001"), 1),
        (to_step(3, "0001", restored="s2"), None),
        (to_step(3, "0009", restored="s9"), None),
        (to_step(3, "0009"), None),
        (to_step(3, "first", restored="s1"), None),
        (to_step(3, None, restored="s1"), None),
    ],
)
def test_where_a_step_went_back_to_is_known_only_without_doubt(back: Step, to: int | None) -> None:
    steps = [step(1, "run"), step(2, "run"), back]
    assert returns_in(steps, "s0") == [Return(number=3, to=to, partly=False, reverses=None)]


def test_what_the_undo_of_a_part_takes_back_is_the_step_that_did_it_last() -> None:
    part: dict[str, Any] = {"paths": ["a"]}
    cut: dict[str, Any] = {"status": "interrupted"}
    steps = [
        step(1, "run"),
        to_step(2, "0001", **part),
        to_step(3, "0001", undoes="0002", **part, **cut),
        to_step(4, "0001", undoes="0002", **part),
        to_step(5, "0002", redoes="0002", **part),
        to_step(6, "0001", **part, **cut),
        to_step(7, "0001", undoes="0006", **part),
        to_step(8, "0001", undoes="0002"),
    ]
    found = [(each.number, each.partly, each.reverses) for each in returns_in(steps, "s0")]
    assert found == [
        (2, True, None),
        (3, True, None),
        (4, True, 2),
        (5, True, 4),
        (6, True, None),
        (7, True, 6),
        (8, False, None),
    ]


LINE = {"c0": ("base",), "c1": ("c0",)}


def test_where_head_was_before_the_step_counts_as_well_as_where_it_was_after() -> None:
    """The branch itself was taken back, too: what it had is left behind all the same."""
    back = [Return(number=2, to=0, partly=False, reverses=None)]
    assert left_behind(back, {0: "base", 1: "c0", 2: "base"}, ["base"], LINE) == {"c0"}
    assert left_behind(back, {0: "base", 1: "base", 2: "c0"}, ["c0"], LINE) == {"c0"}


def test_the_undo_of_a_part_takes_back_nothing_that_an_earlier_step_left() -> None:
    returns = [
        Return(number=3, to=1, partly=False, reverses=None),
        Return(number=4, to=0, partly=True, reverses=None),
        Return(number=5, to=1, partly=True, reverses=4),
    ]
    heads = {0: "base", 1: "c0", 2: "c1", 3: "c1", 4: "base", 5: "base"}
    assert left_behind(returns[:2], heads, ["base"], LINE) == {"c0", "c1"}
    assert left_behind(returns, heads, ["base"], LINE) == {"c1"}


def test_a_return_to_somewhere_unknown_makes_nothing_good() -> None:
    returns = [
        Return(number=2, to=0, partly=False, reverses=None),
        Return(number=3, to=None, partly=False, reverses=None),
    ]
    heads = {0: "base", 1: "c0", 2: "base", 3: "base"}
    assert left_behind(returns, heads, ["base"], LINE) == {"c0"}


def test_the_newest_commit_before_them() -> None:
    graph = {"d": ("c", "x"), "x": ("base",), "c": ("b",), "b": ("a",), "a": ("base",)}
    assert newest_clean(graph, "d", frozenset({"c"}), "base") == "b"
    assert newest_clean(graph, "d", frozenset({"x"}), "base") == "c"
    assert newest_clean(graph, "d", frozenset({"a"}), "base") == "base"
    assert newest_clean({"a": ()}, "a", frozenset({"a"}), "base") == "base"
    assert newest_clean({}, "d", frozenset(), "base") == "d"
