"""Names of keys, and the keys that are for the viewer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.process.control.viewer import NAMES, Prefix, UnknownKey, key_bytes, text_bytes
from siding.ground.process.terminal import APPLICATION_CURSOR, BRACKETED_PASTE

CTRL_BRACKET = b"\x1d"


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("enter", b"\r"),
        ("ESC", b"\x1b"),
        ("ctrl-c", b"\x03"),
        ("C-c", b"\x03"),
        ("^]", b"\x1d"),
        ("ctrl-space", b"\x00"),
        ("alt-x", b"\x1bx"),
        ("alt-enter", b"\x1b\r"),
        ("up", b"\x1b[A"),
        ("f12", b"\x1b[24~"),
        ("y", b"y"),
        ("é", "é".encode()),
    ],
)
def test_a_key_is_what_a_terminal_sends_for_it(name: str, sent: bytes) -> None:
    assert key_bytes(name) == sent


def test_arrow_keys_depend_on_the_mode_of_the_terminal() -> None:
    assert key_bytes("up", frozenset({APPLICATION_CURSOR})) == b"\x1bOA"
    assert len({key_bytes(name) for name in NAMES}) == len(NAMES)


@pytest.mark.parametrize("name", ["", "hyper", "ctrl-", "ctrl-1", "ctrl-é", "alt-hyper"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UnknownKey):
        key_bytes(name)


def test_several_lines_are_pasted_if_the_program_knows_of_pasting() -> None:
    assert text_bytes("a\nb", frozenset()) == b"a\rb"
    assert text_bytes("a", frozenset({BRACKETED_PASTE})) == b"a"
    pasted = text_bytes("a\nb\x1b[201~", frozenset({BRACKETED_PASTE}))
    assert pasted == b"\x1b[200~a\rb[201~\x1b[201~"


@pytest.mark.parametrize(
    ("pieces", "typed", "leaves"),
    [
        ([b"text"], b"text", False),
        ([b"a\x1dd", b"b"], b"a", True),
        ([b"a\x1d", b"d"], b"a", True),
        ([b"\x1d\x1d"], b"\x1d", False),
        ([b"\x1d\x1dd"], b"\x1dd", False),
        ([b"\x1d", b"x"], b"\x1dx", False),
        ([b"\x1dx\x1dd"], b"\x1dx", True),
        ([b"\x1b[93;5ud"], b"", True),
        ([b"\x1b[27;5;93~d"], b"", True),
        ([b"\x1b[93;5u\x1b[93;5u"], b"\x1b[93;5u", False),
    ],
)
def test_the_prefix_and_what_follows_it(pieces: list[bytes], typed: bytes, leaves: bool) -> None:
    prefix, seen = Prefix(CTRL_BRACKET), b""
    for piece in pieces:
        keys = prefix.feed(piece)
        seen += keys.typed
        if keys.leaves:
            break
    assert (seen, keys.leaves) == (typed, leaves)


@given(st.binary().filter(lambda data: CTRL_BRACKET not in data and b"\x1b" not in data))
def test_all_other_keys_are_for_the_program(data: bytes) -> None:
    assert Prefix(CTRL_BRACKET).feed(data) == (data, False)
