"""What looks at a run beside its loop: it records turns, or starts `siding gc`."""

from typing import Protocol


class Looks(Protocol):
    """Something that looks at the run from time to time while its command lives.

    `pause` returns the seconds until `look` has something to do, `output` is told that the command
    printed something, and `finish` that it has ended.
    """

    def pause(self, now: float) -> float: ...

    def output(self, now: float) -> None: ...

    def look(self, now: float) -> None: ...

    def finish(self) -> None: ...
