"""What those who begin to watch a run are sent, and what their terminals must not answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.process.control.recent import KEPT, Recent
from siding.ground.process.control.server import SOFT_RESET, WholeSequences, replay, without_queries
from siding.ground.process.terminal import ScreenModes, since_safe_point

PIECES = st.lists(
    st.sampled_from(
        [b"text", b"\n", b"\x1b", b"[", b"31m", b"\x1b[?1049h", b"\x1b]0;title", b"\x07", b"6n"]
    )
)


def recent(*pieces: bytes, terminal: bool = True) -> Recent:
    made = Recent()
    made.is_terminal = terminal
    for piece in pieces:
        made.add(memoryview(piece))
    return made


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"plain", b"plain"),
        (b"old\x1b[2Jnew", b"\x1b[2Jnew"),
        (b"old\x1bcnew", b"\x1bcnew"),
        (b"old\x1b[H\x1b[Jnew", b"\x1b[H\x1b[Jnew"),
        (b"shell\x1b[?1049hvim", b"\x1b[?1049hvim"),
        (b"shell\x1b[?1049hvim\x1b[2J\x1b[?1049lshell again", b"shellshell again"),
        (b"evicted\x1b[2Jvim\x1b[?1049lshell", b"shell"),
        (b"a\x1b[?1049hb\x1b[?1049lc\x1b[?1047hd", b"\x1b[?1047hd"),
    ],
)
def test_what_is_on_the_screen_begins_at_a_safe_point(data: bytes, shown: bytes) -> None:
    assert since_safe_point(data) == shown


def test_who_comes_gets_what_is_on_the_screen() -> None:
    assert replay(recent(b"old\x1b[2Jnew")) == SOFT_RESET + b"\x1b[2Jnew"
    assert replay(recent(b"old\x1b[2Jnew", terminal=False)) == b"old\x1b[2Jnew"


def test_old_output_is_forgotten_and_a_line_is_not_begun_in_the_middle() -> None:
    made = recent(*[b"%0999d\n" % number for number in range(1000)], terminal=False)
    shown = replay(made)
    assert KEPT - 1000 < len(shown) <= KEPT + (64 << 10)
    assert set(map(len, shown.splitlines())) == {999}
    assert shown.endswith(b"999\n")
    assert len(replay(recent(b"x" * (3 * KEPT), terminal=False))) == KEPT


def test_modes_that_were_switched_long_ago_are_switched_for_who_comes_now() -> None:
    made = recent(b"\x1b[?1049h\x1b[?25l\x1b[?1;2004h", b"x" * (2 * KEPT))
    shown = replay(made)
    assert shown.startswith(SOFT_RESET + b"\x1b[?1049h\x1b[2J\x1b[H")
    assert shown.endswith(b"\x1b[?1h\x1b[?25l\x1b[?2004h")
    modes = ScreenModes()
    modes.feed(memoryview(shown))
    assert modes.switched == made.modes.switched == {1, 25, 1049, 2004}
    assert not replay(recent(b"\x1b[?25l", terminal=False)).startswith(SOFT_RESET)


def test_a_terminal_whose_keyboard_was_changed_gets_it_back() -> None:
    modes = ScreenModes()
    modes.feed(memoryview(b"\x1b[>4;2m"))
    assert b"\x1b[>4m" in modes.reset()
    plain = ScreenModes()
    plain.feed(memoryview(b"\x1b[4;2mtext"))
    assert plain.reset() == b""


QUERIES = (
    b"\x05",
    b"\x1bZ",
    b"\x1b[c",
    b"\x1b[>0c",
    b"\x1b[=c",
    b"\x1b[5n",
    b"\x1b[?6n",
    b"\x1b[?2026$p",
    b"\x1b[>q",
    b"\x1b[?u",
    b"\x1b[?4m",
    b"\x1b[18t",
    b"\x1b[x",
    b"\x1b]11;?\x07",
    b"\x1b]4;1;?\x1b\\",
    b"\x1b]52;c;?\x07",
    b"\x1bP$qm\x1b\\",
    b"\x1bP+q544e\x1b\\",
)
NO_QUERIES = (
    b"\x1b[31m",
    b"\x1b[2J",
    b"\x1b[?25h",
    b"\x1b[3;1H",
    b"\x1b[22;2t",
    b"\x1b]0;a title?\x07",
    b"\x1b]11;#ffffff\x07",
    b"\x1b[4 q",
    b"\x1b[>4;2m",
    b"\x1b[6X",
)


@pytest.mark.parametrize("query", QUERIES)
def test_a_question_is_taken_out(query: bytes) -> None:
    assert without_queries(b"before" + query + b"behind") == b"beforebehind"


@pytest.mark.parametrize("drawing", NO_QUERIES)
def test_what_only_draws_stays(drawing: bytes) -> None:
    assert without_queries(drawing) == drawing


@given(st.lists(st.sampled_from([*QUERIES, *NO_QUERIES, b"text", b"\r\n"])), st.integers(1, 7))
def test_no_question_gets_through_in_pieces(parts: list[bytes], size: int) -> None:
    data = b"".join(parts) + b"end"
    whole, shown = WholeSequences(), b""
    for start in range(0, len(data), size):
        shown += without_queries(whole.feed(data[start : start + size]))
    assert shown == without_queries(data)


@given(PIECES)
def test_pieces_are_passed_on_whole_and_in_order(pieces: list[bytes]) -> None:
    whole, passed = WholeSequences(), b""
    for piece in pieces:
        passed += whole.feed(piece)
    everything = b"".join(pieces)
    assert everything.startswith(passed)
    assert len(everything) - len(passed) <= 128
