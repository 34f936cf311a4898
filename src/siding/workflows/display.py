"""Numbers and names of a run as they are shown. Pure."""


def format_token_count(count: int | None) -> str:
    """Return ``42``, ``22.9k``, ``1.2M``; "0" for none."""
    if not count:
        return "0"
    if count < 1000:
        return str(count)
    if count < 999_950:
        return f"{count / 1000:.1f}k"
    return f"{count / 1_000_000:.1f}M"
