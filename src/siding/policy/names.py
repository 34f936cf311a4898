"""Tables of names, written as text."""


def names(text: str) -> frozenset[str]:
    """Return the names in `text`."""
    return frozenset(text.split())


def ordered(text: str) -> tuple[str, ...]:
    """Return the names in `text`, in order."""
    return tuple(text.split())
