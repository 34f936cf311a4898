"""Read tables of names that are written as text, with white space between the names."""


def names(text: str) -> frozenset[str]:
    """Return the set of names in `text`."""
    return frozenset(text.split())


def ordered(text: str) -> tuple[str, ...]:
    """Return the names in `text`, in the order they are written."""
    return tuple(text.split())
