"""Format durations, sizes and counts for pages. The browser formats times."""


def duration(milliseconds: int) -> str:
    """Return ``0.4 s``, ``12 s``, ``3 min 05 s`` or ``2 h 10 min``."""
    if milliseconds < 9950:
        return f"{milliseconds / 1000:.1f} s"
    seconds = round(milliseconds / 1000)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02d} min"


def size(count: int) -> str:
    """Return a number of bytes as ``512 B``, ``1.4 MiB``."""
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1024:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} TiB"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 file``, ``3,000 files``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
