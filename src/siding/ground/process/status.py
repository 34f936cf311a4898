"""The status of a process, as `procfs` and `ps` return it."""

from siding.ground.namedtuples import NamedTuple


class ProcessStatus(NamedTuple):
    """A living process.

    ``started`` is its start time. It tells the process from a later one with the same pid.
    """

    pid: int
    name: str
    parent: int
    group: int
    session: int
    started: int
