"""What we know of one process at one moment."""

from typing import NamedTuple


class Status(NamedTuple):
    """A living process. ``started`` tells it from a later one with the same pid."""

    pid: int
    name: str
    parent: int
    group: int
    session: int
    started: int
