"""What the last screen of a program showed that draws on its terminal, as text.

The output of such a program is cursor movements, of which nobody can read anything. Output that is
lines stays what it is.
"""

import re

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import StreamPlan, WindowSize
from siding.ground.process.emulator import TextScreen
from siding.ground.process.output.reading import Output
from siding.ground.process.terminal import ALTERNATE, from_line_start, since_safe_point
from siding.record.ledger.step import Step

_READ = 256 << 10  # bytes from the end, in which the beginning of the screen is looked for
_DRAWN = 64 << 10  # bytes that are drawn at most: about a tenth of a second
_LONGEST_FAREWELL = 400
_USUAL = WindowSize(rows=24, columns=80)
_MOST = 500  # rows or columns that are believed
# The cursor is set to a place or moved up, the screen is erased, a scrolling region is set.
_DRAWS = re.compile(
    rb"\x1b\[[0-9]*(?:;[0-9]*)?[Hf]|\x1b\[[0-9]*[AFd]|\x1b\[[0-3]?J|\x1b\[[0-9]+;[0-9]+r|\x1bM|\x1bc"
    rb"|\x1b\[\?(?:47|1047|1049)[hl]"
)
_PLACES = re.compile(
    rb"\x1b\[([0-9]{1,4})?(?:;([0-9]{1,4}))?[Hf]|\x1b\[([0-9]{1,4})d|\x1b\[[0-9]{1,4};([0-9]{1,4})r"
)
_COLUMNS = re.compile(rb"\x1b\[([0-9]{1,4})G")
# What programs send before they leave: modes, the window's title, a line feed that scrolls.
_FAREWELL = re.compile(
    rb"(?:\x1b\[[?>]?[0-9;]{0,20}[hlmtu]|\x1b[>=]|[\r\n])*\Z",
)


class LastScreen(NamedTuple):
    """The lines on a screen; `is_guessed` if nobody noted the size of the terminal."""

    lines: tuple[str, ...]
    size: WindowSize
    is_guessed: bool


def last_screen(
    step: Step, output: Output, size_now: WindowSize | None = None
) -> LastScreen | None:
    """Return the last screen of a run in a terminal; None if its output is lines.

    `size_now` is that of the terminal if the run lives: the step of one that has ended has it.
    Of a program that has left the alternate screen, and put nothing on the other one, that is what
    it showed before it left. Raises OSError.
    """
    if output.streams is not StreamPlan.PTY:
        return None
    data = output.stdout.tail(_READ)
    if not draws(data):
        return None
    is_whole = len(data) == output.stdout.size
    if not is_whole:
        data = from_line_start(data)
    told = _told_size(step) or size_now
    size = told or _guessed_size(data)
    lines = _drawn(data, size, is_whole=is_whole)
    if not any(lines):
        before = _before_it_left(data)
        lines = [] if before is None else _drawn(before, size, is_whole=False)
    return LastScreen(tuple(lines), size, is_guessed=told is None)


def text_on_screen(output: Output, size: WindowSize | None) -> str:
    """Return what is on the terminal of a run now, if its output is short; else "".

    It is drawn also of a program that only writes lines. Raises OSError.
    """
    if output.streams is not StreamPlan.PTY or output.stdout.size > _DRAWN:
        return ""
    data = output.stdout.tail(_DRAWN)
    screen = TextScreen(size or _guessed_size(data))
    screen.feed(since_safe_point(data).decode("utf-8", "replace"))
    return "\n".join(screen.lines())


def draws(data: bytes) -> bool:
    """Tell whether output in a terminal is drawn on a screen, and not written in lines."""
    return _DRAWS.search(data) is not None


def _drawn(data: bytes, size: WindowSize, *, is_whole: bool) -> list[str]:
    """Return what the output draws; of a program that lets lines scroll away, those as well."""
    present = since_safe_point(data)
    if len(present) > _DRAWN:
        present, is_whole = from_line_start(present[-_DRAWN:]), False
    screen = TextScreen(size)
    if not is_whole:  # whoever has printed a lot is at the bottom, and moves up from there
        screen.feed(f"\x1b[{size.rows};1H")
    screen.feed(present.decode("utf-8", "replace"))
    past = screen.past_lines() if is_whole else []
    lines = [*past, *screen.lines()]
    while lines and not lines[-1]:
        lines.pop()
    begin = 0 if is_whole else next((at for at, line in enumerate(lines) if line), 0)
    return lines[begin:]


def _before_it_left(data: bytes) -> bytes | None:
    """Return the output up to where the alternate screen was left for the last time."""
    found = [each.start() for each in ALTERNATE.finditer(data) if each["off"] is not None]
    entered = [each.start() for each in ALTERNATE.finditer(data) if each["on"] is not None]
    # Programs leave it twice to be sure: the first time after it was entered is meant.
    left = [place for place in found if not entered or place > entered[-1]]
    if not left:
        return None
    shown = data[: left[0]]
    farewell = _FAREWELL.search(shown, max(0, len(shown) - _LONGEST_FAREWELL))
    return shown if farewell is None else shown[: farewell.start()]


def _told_size(step: Step) -> WindowSize | None:
    run = step.as_run
    told = run.output if run else None
    if told is None or not (0 < told.rows <= _MOST and 0 < told.columns <= _MOST):
        return None
    return WindowSize(rows=told.rows, columns=told.columns)


def _guessed_size(data: bytes) -> WindowSize:
    """Return the size of a terminal that has all places which the output names."""
    rows, columns = _USUAL
    for found in _PLACES.finditer(data):
        rows = max(rows, *(int(found[group] or 0) for group in (1, 3, 4)))
        columns = max(columns, int(found[2] or 0))
    for found in _COLUMNS.finditer(data):
        columns = max(columns, int(found[1]))
    return WindowSize(
        rows=rows if rows <= _MOST else _USUAL.rows,
        columns=columns if columns <= _MOST else _USUAL.columns,
    )
