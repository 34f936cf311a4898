"""Parse durations such as ``1h30m`` and sizes such as ``100MiB``. Pure."""


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
