"""Which commits were gone back from, as laws: against a model in which each state simply has its
commits, and where something is not known."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from siding.ledger.history import position, returns_to
from siding.ledger.left_behind import abandoned_steps, left_behind, newest_clean, returns_in
from siding.ledger.step import Step, step_from


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


def test_the_newest_commit_before_them() -> None:
    graph = {"d": ("c", "x"), "x": ("base",), "c": ("b",), "b": ("a",), "a": ("base",)}
    assert newest_clean(graph, "d", frozenset({"c"}), "base") == "b"
    assert newest_clean(graph, "d", frozenset({"x"}), "base") == "c"
    assert newest_clean(graph, "d", frozenset({"a"}), "base") == "base"
    assert newest_clean({"a": ()}, "a", frozenset({"a"}), "base") == "base"
    assert newest_clean({}, "d", frozenset(), "base") == "d"
