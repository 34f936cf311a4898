"""Which steps led to the present state, and how they are drawn."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from siding.record.ledger.graph import drawn
from siding.record.ledger.present_line import present_line
from siding.record.ledger.step import Step, step_from


def step(number: int, kind: str = "run", **more: Any) -> Step:
    record = {"step_id": f"{number:04d}", "kind": kind, "status": "completed", **more}
    return step_from(record)


def back(number: int, to: int, **more: Any) -> Step:
    """Return a step that went back with all parts to the state after step `to`; 0 is the base."""
    name = f"{to:04d}" if to else None
    target = {"target_step": name, "target": "step" if to else "base"}
    now = {"parts": "all", "on": name or "base"}
    return step(number, "rollback", **{**target, **now, **more})


def shown(steps: list[Step]) -> tuple[list[int], list[int]]:
    found = present_line(steps)
    return sorted(found.line), sorted(found.left_behind)


def test_without_a_rollback_all_steps_are_on_the_line() -> None:
    assert shown([step(1), step(2, "checkpoint"), step(3)]) == ([1, 2, 3], [])
    assert shown([]) == ([], [])


def test_a_rollback_leaves_behind_what_it_went_back_from() -> None:
    steps = [step(1), step(2), step(3), back(4, 1)]
    assert shown(steps) == ([1], [2, 3])
    assert shown([*steps, step(5)]) == ([1, 5], [2, 3])
    assert shown([*steps, step(5), back(6, 3)]) == ([1, 2, 3], [5])
    assert shown([*steps, back(5, 0)]) == ([], [1, 2, 3])


def test_going_to_a_state_that_was_gone_back_to_is_going_to_that_state() -> None:
    steps = [step(1), step(2), back(3, 1), step(4), back(5, 3)]
    assert shown(steps) == ([1], [2, 4])
    assert present_line(steps).stands_on[5] == 1


def test_paths_files_alone_a_merge_and_what_was_cut_off_do_not_move_the_line() -> None:
    steps = [step(1), step(2)]
    for more in (
        {"paths": ["a"], "parts": "", "on": "0002"},
        {"paths": ["a"], "parts": "", "on": ""},
        {"parts": "", "on": "0002"},
        {"status": "interrupted"},
        {"merged": {"branch": "main", "commit": "1" * 40}},
        {"on": "x"},
        {"on": "0007"},
        {"target_step": "x", "parts": "", "on": ""},
    ):
        assert shown([*steps, back(3, 1, **more)]) == ([1, 2, 3], []), more


def test_a_ledger_of_before_says_it_by_its_rollbacks() -> None:
    steps = [step(1), step(2), back(3, 1, parts="", on="")]
    assert shown(steps) == ([1], [2])
    assert shown([*steps, back(4, 0, parts="", on="")]) == ([], [1, 2])


def test_the_end_of_a_ledger_is_enough_to_know_its_steps() -> None:
    steps = [step(1), step(2), back(3, 1), step(4), step(5), back(6, 2), step(7)]
    whole = present_line(steps)
    for start in range(len(steps)):
        part = present_line(steps[start:])
        numbers = {each.number for each in steps[start:]}
        assert part.line == whole.line & numbers
        assert part.left_behind == whole.left_behind & numbers


def test_numbers_that_began_again_are_one_line() -> None:
    """A tool of before counted on from 9999 with 0000, and used numbers twice."""
    for numbers in ([1, 2, 3, 2, 3], [9998, 9999, 0, 1], [0], [2, 2]):
        steps = [step(number) for number in numbers]
        assert shown(steps) == (sorted(set(numbers)), [])
        rows = drawn(present_line(steps), steps)
        assert [row.step for row in rows] == steps
        assert present_line(steps).on(1) == 0


WALKS = st.lists(st.none() | st.integers(0, 30), max_size=30)


def walked(moves: list[int | None]) -> list[Step]:
    """Return a step for each move: a run, or a way back to an earlier step."""
    steps: list[Step] = []
    for number, to in enumerate(moves, start=1):
        steps.append(step(number) if to is None or to >= number else back(number, to))
    return steps


@given(WALKS)
def test_the_line_is_what_a_walk_through_the_states_leaves(moves: list[int | None]) -> None:
    steps = walked(moves)
    states: list[tuple[int, ...]] = [()]  # the runs that each state has
    for each, to in zip(steps, moves, strict=True):
        is_run = each.kind == "run"
        states.append((*states[-1], each.number) if is_run else states[to or 0])
    line, left = shown(steps)
    runs = {each.number for each in steps if each.kind == "run"}
    assert line == sorted(states[-1])
    assert set(left) == runs - set(line)
    for start in range(len(steps)):
        part = present_line(steps[start:])
        assert part.line == {number for number in line if number > start}


@given(WALKS, st.integers(0, 30))
def test_each_step_is_drawn_once_under_the_one_it_stands_on(
    moves: list[int | None], start: int
) -> None:
    steps = walked(moves)[start:]
    line = present_line(steps)
    rows = drawn(line, steps)
    assert [row.step for row in rows] == [s for s in steps if s.number not in line.returns]
    assert len({len(row.columns) for row in rows}) <= 1
    last_in: dict[int, int] = {}
    for row in rows:
        assert row.columns.count("*") == 1
        at = row.columns.index("*")
        above = last_in.get(at)
        if row.stands_on is None and above is not None:
            assert line.stands_on[row.step.number] == above
        if row.stands_on is not None:
            assert line.stands_on[row.step.number] == row.stands_on
        last_in[at] = row.step.number
    on_line = [row.columns.index("*") for row in rows if row.step.number in line.line]
    assert set(on_line) <= {0}


def test_a_drawing() -> None:
    steps = [step(1), step(2), step(3), back(4, 1), step(5), back(6, 1), step(7)]
    rows = [f"{row.columns} {row.step.number}" for row in drawn(present_line(steps), steps)]
    assert rows == ["*     1", "| * | 2", "| * | 3", "|   * 5", "*     7"]
