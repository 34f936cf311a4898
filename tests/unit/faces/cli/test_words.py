"""How times, sizes and counts are said."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.faces.cli.screen.words import ago, changes, duration, seconds_in, size

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (0, "0.0s"),
        (420, "0.4s"),
        (12_000, "12s"),
        (185_000, "3m 05s"),
        (7_800_000, "2h 10m"),
        (86_340_000, "23h 59m"),
        (86_400_000, "1d 00h"),
        (90_060_000, "1d 01h"),
        (10**9, "11d 13h"),
    ],
)
def test_durations(milliseconds: int, said: str) -> None:
    assert duration(milliseconds) == said


@pytest.mark.parametrize(
    ("back", "said"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(seconds=50), "1m ago"),
        (timedelta(hours=5), "5h ago"),
        (timedelta(days=400), "400d ago"),
    ],
)
def test_moments(back: timedelta, said: str) -> None:
    assert ago((NOW - back).isoformat(), NOW) == said


def test_a_moment_that_is_none() -> None:
    assert ago("whenever", NOW) == "-"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("5m", 300),
        ("1h30m", 5400),
        ("1.5m", 90),
        ("2d", 172800),
        ("12w", 84 * 86400),
        ("1y", 365 * 86400),
    ],
)
def test_times_people_type(text: str, seconds: float) -> None:
    assert seconds_in(text) == seconds


@pytest.mark.parametrize("text", ["", "x", "5x", "m", "-5", "5m3", "0", "1..2s", "."])
def test_times_that_are_none(text: str) -> None:
    assert seconds_in(text) is None


@given(st.text())
def test_any_text_is_a_time_or_none(text: str) -> None:
    found = seconds_in(text)
    assert found is None or found > 0


def test_sizes_and_changes() -> None:
    assert size(512) == "512 B"
    assert size(1536) == "1.5 KiB"
    assert size(5 * 1024**3) == "5.0 GiB"
    assert changes(0, 0, 0) == "no change"
    assert changes(1, 2, 3) == "1 file +2 -3"
