"""What `--since` of `siding session …` takes for a time."""

from datetime import UTC, datetime, timedelta

import pytest

from siding.faces.cli.sessions.options import moment_named
from siding.ground.errors import UsageError

NOW = datetime(2026, 11, 28, 15, 30, tzinfo=UTC)
MIDNIGHT = NOW.astimezone().replace(hour=0, minute=0)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("today", MIDNIGHT),
        ("yesterday", MIDNIGHT - timedelta(days=1)),
        ("3d", NOW - timedelta(days=3)),
        ("2w", NOW - timedelta(weeks=2)),
        ("2026-11-20T14:00+00:00", datetime(2026, 11, 20, 14, tzinfo=UTC)),
    ],
)
def test_a_time_is_a_date_an_age_or_a_day_by_name(said: str, meant: datetime) -> None:
    assert moment_named(said, NOW) == meant.timestamp()


@pytest.mark.parametrize("said", ["", "tomorrow", "3", "3x", "2026-13-01"])
def test_what_is_no_time_is_refused(said: str) -> None:
    with pytest.raises(UsageError):
        moment_named(said, NOW)
