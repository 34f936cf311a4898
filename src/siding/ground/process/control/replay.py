"""What is on a terminal's screen, as the bytes that draw it again.

Whoever begins to watch a run gets its output from the last safe point on: a place after which the
screen no longer depends on what came before. No terminal is emulated. What a program does not draw
again by itself is there only as far as these bytes reach.
"""

from siding.ground.process.control.recent import Recent
from siding.ground.process.emulator.safe_points import ALTERNATE, from_line_start, since_safe_point
from siding.ground.process.terminal import ALTERNATE_SCREENS

# Attributes, scrolling region, insert mode and character set back to normal; nothing is erased.
SOFT_RESET = b"\x1b[!p\x1b[0m\x1b(B\x0f"


def replay(recent: Recent) -> bytes:
    """Return bytes that bring a terminal to about what is on the run's screen now."""
    data = bytes(recent.data)
    if recent.is_cut:
        data = from_line_start(data)
    if not recent.is_terminal:
        return data
    data = since_safe_point(data)
    enter = b""
    if recent.modes.switched & ALTERNATE_SCREENS and ALTERNATE.search(data) is None:
        enter = b"\x1b[?1049h\x1b[2J\x1b[H"
    return SOFT_RESET + enter + data + recent.modes.again()
