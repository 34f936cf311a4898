"""The search finds the first state that fails, with as few looks as there can be."""

from math import ceil, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.bisect.search import Suspects, Verdict, most_looks, next_look, suspects


def looked(count: int, first_bad: int, skipped: frozenset[int] = frozenset()) -> dict[int, Verdict]:
    """Return the verdicts of a whole search; `count` as the first bad one is none."""
    verdicts: dict[int, Verdict] = {}
    while (at := next_look(count, verdicts)) is not None:
        assert at not in verdicts
        assert 0 <= at < count
        if at in skipped:
            verdicts[at] = Verdict.SKIPPED
        else:
            verdicts[at] = Verdict.HOLDS if at < first_bad else Verdict.FAILS
    return verdicts


@pytest.mark.parametrize("count", [1, 2, 3, 40, 41, 63, 64, 1000])
def test_each_answer_is_found_in_as_many_looks_as_halving_takes(count: int) -> None:
    for first_bad in {0, 1, count // 3, count // 2, count - 1, count} & {*range(count + 1)}:
        verdicts = looked(count, first_bad)
        assert suspects(count, verdicts) == Suspects(first_bad - 1, first_bad)
        assert len(verdicts) <= ceil(log2(count + 1)) == most_looks(count, {})


def test_the_breaking_one_of_forty_prompts_takes_six_looks() -> None:
    assert max(len(looked(41, first_bad)) for first_bad in range(42)) == 6


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.data())))
def test_what_is_skipped_leaves_a_range_with_the_answer_in_it(
    drawn: tuple[int, int, st.DataObject],
) -> None:
    count, first_bad, data = drawn
    skipped = data.draw(st.frozensets(st.integers(0, count - 1)))
    left = suspects(count, looked(count, first_bad, skipped))
    assert left.holds < first_bad <= left.fails
    assert {*range(left.holds + 1, left.fails)} <= skipped  # all that could be judged is


@given(st.integers(1, 60), st.data())
def test_what_is_left_never_grows(count: int, data: st.DataObject) -> None:
    """Also of a check that says now this and now that."""
    verdicts: dict[int, Verdict] = {}
    before = suspects(count, verdicts)
    while (at := next_look(count, verdicts)) is not None:
        verdicts[at] = data.draw(st.sampled_from(Verdict))
        now = suspects(count, verdicts)
        assert before.holds <= now.holds < now.fails <= before.fails
        before = now
    assert len(verdicts) <= count
