"""The newest output of a run, kept in memory for those who begin to watch it."""

from siding.ground.process.terminal import ScreenModes

KEPT = 256 << 10  # bytes
_SLACK = 64 << 10  # the beginning is cut off in pieces of this size


class Recent:
    """The newest `KEPT` bytes of a run's output, and the modes its terminal is in now."""

    def __init__(self) -> None:
        self.modes = ScreenModes()
        self.is_terminal = False
        self.data = bytearray()
        self.is_cut = False

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
