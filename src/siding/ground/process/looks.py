"""What looks at a run beside its loop: it records turns, or starts `siding gc`."""

from typing import Protocol

from siding.ground.namedtuples import NamedTuple


class TurnTimes(NamedTuple):
    """When turns are recorded, in seconds; None for not at all."""

    every_s: float | None = None
    quiet_s: float | None = None

    @property
    def any(self) -> bool:
        """Whether turns are recorded at all."""
        return self != TurnTimes()


class Looks(Protocol):
    """Something that looks at the run from time to time while its command lives.

    `pause` returns the seconds until `look` has something to do, `output` is told that the command
    printed something, and `finish` that it has ended.
    """

    def pause(self, now: float) -> float: ...

    def output(self, now: float) -> None: ...

    def look(self, now: float) -> None: ...

    def finish(self) -> None: ...
