"""The choice of one line of many: keys as a terminal sends them, what is typed filters.

Keys come in pieces, several at once, with characters of any length; arrows move within what fits.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.faces.cli.screen.filter import Filtering, Key, keys_in, whole_keys

TYPED = "a\x1b[Bö\x1bOA牛😀\x1b[1;5C\x7f\r".encode()
KEYS = [
    Key(text="a"),
    Key(name="down"),
    Key(text="ö"),
    Key(name="up"),
    Key(text="牛"),
    Key(text="😀"),
    Key(name="back"),
    Key(name="enter"),
]


@pytest.mark.parametrize("cut", range(1, len(TYPED)))
def test_a_key_that_comes_in_two_pieces_is_one(cut: int) -> None:
    pieces = [TYPED[:cut], TYPED[cut:]]
    found: list[Key] = []
    while pieces:
        found += keys_in(whole_keys(lambda _seconds: pieces.pop(0)))
    assert found == KEYS


def test_esc_is_one_when_nothing_follows() -> None:
    pieces = [b"\x1b", b""]
    assert list(keys_in(whole_keys(lambda _seconds: pieces.pop(0)))) == [Key(name="leave")]
    assert pieces == []


@pytest.mark.parametrize("pressed", [b"\x1bx", b"\x1b[3~", b"\x1b[", b"\xff", b"\x00", b"\xe7\x89"])
def test_what_means_nothing_is_passed_over(pressed: bytes) -> None:
    pieces = [pressed, b""]
    found = list(keys_in(whole_keys(lambda _seconds: pieces.pop(0))))
    assert [key for key in found if key.name] == []


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
