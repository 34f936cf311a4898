"""Lanes: the sequences of calls in a script, and the path that names each call.

A script's body is one lane, whose calls are ``0``, ``1``, ``2``. A call that starts several things
at once opens a lane for each: ``parallel`` at ``2`` opens ``2.0``, ``2.1``, …, whose calls are
``2.0/0``, ``2.0/1``, and so on. Each lane counts for itself, so a path says where in the script a
call stands, and never when it was made.
"""


class Lane:
    """A sequence of calls. `phase` is the one that its agents belong to.

    A lane is stale when a call in it, or in a lane around it, did not come out as it is recorded:
    what follows is then not taken from the record. It is undecided while that is not known yet.
    """

    __slots__ = ("_is_stale", "_next", "_waiting", "depth", "parent", "path")

    def __init__(self, path: str = "", parent: "Lane | None" = None, *, depth: int = 0) -> None:
        self.path = path
        self.parent = parent
        self.depth = depth  # how many workflows are around this one
        self._next = 0
        self._is_stale = False
        self._waiting = 0

    def take(self) -> str:
        """Return the path of the next call."""
        number = self._next
        self._next += 1
        return f"{self.path}/{number}" if self.path else str(number)

    def open(self, call: str, key: object, *, deeper: int = 0) -> "Lane":
        """Return a new lane within this one, opened by a call."""
        return Lane(f"{call}.{key}", self, depth=self.depth + deeper)

    def is_stale(self) -> bool:
        """Tell whether what is recorded of the calls to come no longer counts."""
        lane: Lane | None = self
        while lane is not None:
            if lane._is_stale:
                return True
            lane = lane.parent
        return False

    def is_undecided(self) -> bool:
        """Tell whether a call before this point is being made again, and may change the rest."""
        lane: Lane | None = self
        while lane is not None:
            if lane._waiting:
                return True
            lane = lane.parent
        return False

    def turn_stale(self) -> bool:
        """Let nothing recorded count from here on; False if it already was so."""
        was = self.is_stale()
        self._is_stale = True
        return not was

    def begin_deciding(self) -> None:
        """Let later calls wait until `end_deciding`."""
        self._waiting += 1

    def end_deciding(self) -> None:
        """Let later calls go on."""
        self._waiting -= 1
