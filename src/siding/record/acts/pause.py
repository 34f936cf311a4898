"""The runs that are paused while an act moves the files under them, and how a person chooses."""

from collections.abc import Callable

from siding.ground.namedtuples import NamedTuple


class BesideRuns(NamedTuple):
    """How an act is done while runs live. `now`: whatever their processes are doing.

    With `takes_last` they are not paused: the newest recorded state counts. `way_out` is what a
    person can do if they cannot be paused.
    """

    now: bool = False
    takes_last: bool = False
    way_out: str = "--now does not wait for it; --stop ends the runs first"


class PausedRun(NamedTuple):
    """A run that was paused, and goes on. `has_ended`: that is what it left running."""

    id: str
    title: str
    has_ended: bool = False


class Paused(NamedTuple):
    """The runs that were paused during an act. `unquiet` are sentences that say what they were in
    the middle of, if the act did not wait."""

    runs: tuple[PausedRun, ...] = ()
    unquiet: tuple[str, ...] = ()


_NOTHING = Paused()


class Pause:
    """A pause that lasts until `go_on` is called, or the act is over."""

    def __init__(self, paused: Paused = _NOTHING, end: Callable[[], None] | None = None) -> None:
        self.paused = paused
        self._end = end

    def go_on(self) -> None:
        """Let the runs go on. Without effect if they do already."""
        if self._end is not None:
            self._end()
