"""The choice of one line of many: what is typed filters, arrows move within what fits."""

from hypothesis import given
from hypothesis import strategies as st

from siding.faces.cli.screen.filtering import Filtering

LINES = ("4f1c claude mend the tests", "01a1 codex größe der 牛", "65e7 gemini mend it")


def test_every_typed_word_must_be_in_the_line() -> None:
    state = Filtering(LINES).typed("MEND g")
    assert state.fitting() == [2]
    assert state.chosen() == 2
    assert state.typed("x").chosen() is None
    assert state.after("clear").fitting() == [0, 1, 2]


def test_arrows_stay_within_what_fits() -> None:
    state = Filtering(LINES).typed("mend")
    assert state.after("up").chosen() == 0
    assert state.after("down").chosen() == 2
    assert state.after("down").after("down").chosen() == 2
    assert state.after("down").after("up").chosen() == 0


@given(
    st.lists(st.text(max_size=8), max_size=6),
    st.lists(st.one_of(st.sampled_from(["up", "down", "back", "clear"]), st.just("t")), max_size=9),
)
def test_what_is_chosen_always_fits(lines: list[str], keys: list[str]) -> None:
    state = Filtering(tuple(lines))
    for key in keys:
        state = state.typed("a") if key == "t" else state.after(key)
        fitting = state.fitting()
        assert state.chosen() in fitting if fitting else state.chosen() is None
