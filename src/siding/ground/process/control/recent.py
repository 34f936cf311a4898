"""The newest output of a run, kept in memory for those who begin to watch it."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from siding.ground.process.terminal import ScreenModes

KEPT = 256 << 10  # bytes
_SLACK = 64 << 10  # the beginning is cut off in pieces of this size


class Recent:
    """The newest `KEPT` bytes of a run's output, and the modes its terminal is in now."""

    def __init__(self) -> None:
        self.is_terminal = False
        self.data = bytearray()
        self.is_cut = False

    @cached_property
    def modes(self) -> "ScreenModes":
        """The modes that the terminal is in; of pipes, those that it begins with."""
        from siding.ground.process.terminal import ScreenModes

        return ScreenModes()

    def add(self, data: memoryview) -> None:
        """Keep more output, as much of its end as there is room for."""
        if self.is_terminal:
            self.modes.feed(data)
        if len(data) > KEPT:
            self.data.clear()
            self.is_cut = True
        self.data += data[-KEPT:]
        if len(self.data) > KEPT + _SLACK:
            del self.data[:-KEPT]
            self.is_cut = True
