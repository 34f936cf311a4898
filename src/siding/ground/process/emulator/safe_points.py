"""Where in a terminal's output the present screen begins.

A safe point is a place after which the screen no longer depends on what came before.
"""

import re

_MOST_LINE = 4096  # bytes in which the beginning of a line is looked for

_ON = rb"\x1b\[\?(?:[0-9]{1,4};){0,4}(?:47|1047|1049)(?:;[0-9]{1,4}){0,4}h"
_OFF = rb"\x1b\[\?(?:[0-9]{1,4};){0,4}(?:47|1047|1049)(?:;[0-9]{1,4}){0,4}l"
ALTERNATE = re.compile(b"(?P<on>%s)|(?P<off>%s)" % (_ON, _OFF))
# A full reset (RIS), an erased screen (ED 2, or ED 0 in the corner), a change to the other screen.
_SAFE = re.compile(rb"\x1bc|\x1b\[2J|\x1b\[(?:1;1)?H\x1b\[0?J|" + _ON)


def since_safe_point(data: bytes) -> bytes:
    """Return the end of a terminal's output, from the last safe point on.

    Of what a program drew on the alternate screen and left again, nothing is on the screen.
    """
    data = _without_left_screens(data)
    start = 0
    for found in _SAFE.finditer(data):
        start = found.start()
    return data[start:]


def _without_left_screens(data: bytes) -> bytes:
    kept: list[bytes] = []
    position, entered = 0, None
    for found in ALTERNATE.finditer(data):
        if found["on"] is not None:
            entered = found.start() if entered is None else entered
        elif entered is not None:
            kept.append(data[position:entered])
            position, entered = found.end(), None
        elif not kept:  # it was entered before these bytes begin
            position = found.end()
    return b"".join([*kept, data[position:]])


def from_line_start(data: bytes) -> bytes:
    """Cut off the rest of a line or sequence whose beginning is gone."""
    end = data.find(b"\n", 0, _MOST_LINE)
    if end < 0:
        end = data.find(b"\x1b", 0, _MOST_LINE) - 1
    return data[end + 1 :] if end >= 0 else data
