"""Durations, sizes and moments: read from what people write, and put into words."""

from datetime import UTC, datetime


def seconds_in(text: str) -> float | None:
    """Return the seconds in ``90``, ``90s``, ``5m``, ``1h30m``, ``12w`` or ``1y``; None if it is
    not a duration.

    ``m`` are minutes, and a year has 365 days. A duration of 0 is not valid.
    """
    units = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0, "y": 31536000.0}
    total, number, seen = 0.0, "", False
    for character in text.strip().lower():
        if character.isdigit() or character == ".":
            number += character
        elif character in units and number not in ("", "."):
            try:
                total += float(number) * units[character]
            except ValueError:
                return None
            number, seen = "", True
        else:
            return None
    if number:
        if seen:
            return None
        try:
            total = float(number)
        except ValueError:
            return None
    return total if total > 0 else None


_UNITS = {
    "": 1,
    "b": 1,
    "k": 1 << 10,
    "kib": 1 << 10,
    "m": 1 << 20,
    "mib": 1 << 20,
    "g": 1 << 30,
    "gib": 1 << 30,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
}


def bytes_in(text: str) -> int | None:
    """Return the bytes of a size such as ``100MiB``, ``5 GB`` or ``4096``; None if invalid."""
    number = text.strip().lower()
    unit = ""
    while number and not (number[-1].isdigit() or number[-1] == "."):
        unit, number = number[-1] + unit, number[:-1]
    factor = _UNITS.get(unit.strip())
    try:
        return None if factor is None else int(float(number) * factor)
    except (ValueError, OverflowError):
        return None


def parsed(moment: str) -> datetime | None:
    """Return an ISO 8601 moment; None for any other text. Without an offset it is in UTC."""
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return then if then.tzinfo else then.replace(tzinfo=UTC)


def duration(milliseconds: int) -> str:
    """Return ``0.4s``, ``12s``, ``3m 05s``, ``2h 10m`` or ``1d 04h``."""
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    if whole < 86400:
        return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
    return f"{whole // 86400}d {whole % 86400 // 3600:02d}h"


def ago(moment: str, now: datetime | None = None) -> str:
    """Return how long ago an ISO 8601 moment was: ``just now``, ``5m ago``, ``3d ago``."""
    then = parsed(moment)
    if then is None:
        return "-"
    return seconds_ago(int(((now or datetime.now(UTC)) - then).total_seconds()))


def seconds_ago(seconds: int) -> str:
    """Return how long ago something was that is so many seconds old, as `ago` does."""
    if seconds < 45:
        return "just now"
    for limit, size, unit in ((3600, 60, "m"), (86400, 3600, "h"), (10**10, 86400, "d")):
        if seconds < limit:
            return f"{max(1, seconds // size)}{unit} ago"
    return "-"
