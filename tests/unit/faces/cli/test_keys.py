"""Keys as a terminal sends them: in pieces, several at once, with characters of any length."""

import pytest

from siding.faces.cli.screen.keys import Key, keys_in, whole_keys

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
