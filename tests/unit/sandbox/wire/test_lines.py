"""The lines of what passed: nothing of a key is in them, and they are read as they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.record.wire.journal import Ending, Kind, Passed, path_to_keep
from siding.record.wire.report import sums_of
from siding.record.wire.tokens import Tokens

COUNTS = st.integers(0, 10**9)
LINES = st.builds(
    Passed,
    at=st.just("2026-11-24T12:00:00.000+00:00"),
    kind=st.sampled_from(Kind),
    host=st.text(max_size=9),
    port=COUNTS,
    status=COUNTS,
    ended=st.sampled_from(["", *(each.value for each in Ending)]),
    model=st.text(max_size=9),
    first_ms=COUNTS,
    tokens=st.none() | st.builds(Tokens, *[COUNTS] * 6),
    retry=st.booleans(),
    why=st.text(max_size=9),
)


@given(LINES)
def test_a_line_is_read_as_it_was_written(line: Passed) -> None:
    assert Passed.from_record(line.as_record()) == line


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("/v1/messages?beta=true&key=AIza", "/v1/messages"),
        ("/v1beta/models/gemini-3:generateContent", "/v1beta/models/gemini-3:generateContent"),
        (f"/bot{'x' * 90}/send", "/…/send"),
        ("/a b\x1b[1m", "/a…b……1m"),
    ],
)
def test_a_path_is_kept_without_what_may_be_a_key(target: str, kept: str) -> None:
    assert path_to_keep(target) == kept


def line(**fields: object) -> Passed:
    made: Passed = Passed(at="", kind=Kind.REQUEST, host="a")._replace(**fields)  # type: ignore[arg-type]
    return made


def test_sums_are_those_of_the_lines() -> None:
    whole, cut, left = (each.value for each in (Ending.WHOLE, Ending.CUT, Ending.LEFT))
    one = Tokens(input=10, output=1)
    found = sums_of(
        [
            line(status=200, ended=whole, model="m", tokens=one, first_ms=5, ms=50),
            line(status=200, ended=cut, model="m", tokens=one, first_ms=7, ms=70, retry=True),
            line(status=529, ended=whole, error="overloaded_error", first_ms=9, ms=9),
            line(ended=Ending.UNREACHABLE.value, why="no"),
            line(status=200, ended=left, why="it is encoded as br"),
            Passed(at="", kind=Kind.REFUSED, host="b", port=443, why="not listed"),
            Passed(at="", kind=Kind.REFUSED, host="b", port=443, why="not listed"),
            Passed(at="", kind=Kind.TUNNEL, host="c"),
        ]
    )
    assert found.tokens == {"m": (Tokens(input=20, output=2), 2)}
    assert (found.requests, found.failed, found.cut, found.left, found.retries) == (5, 2, 1, 1, 1)
    assert (found.uncounted, found.tunnels) == (1, 1)
    assert found.statuses == {"200": 3, "529": 1}
    assert found.errors == {"overloaded_error": 1}
    assert found.refused == {("b", 443, "not listed"): 2}
    assert (found.first_ms, found.slowest_ms) == (5, 70)
