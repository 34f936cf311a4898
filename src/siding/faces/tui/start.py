"""`siding` at a terminal: decide what to show, draw the first frame by hand, then load the screen.

Nothing but the standard library and what every command has is loaded before it is decided. The
first frame is what the screen showed last; the screen paints the present over it.
"""

import atexit
import gc
import os
import signal
import sys
import termios
import tty
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from siding.faces.tui.theme import (
    NONE,
    answered,
    ask_background,
    background_of,
    is_ascii,
    palette_of,
)
from siding.record.place.terminal_settings import terminal_settings
from siding.record.place.wiring import App, home_is_hidden, is_in_step

if TYPE_CHECKING:
    from siding.feed.addresses import Address
    from siding.record.place.terminal_settings import TerminalSettings

_ENDING = (signal.SIGTERM, signal.SIGHUP)
_ENTER = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J"
_LEAVE = "\x1b[?1049l\x1b[?25h"


class Way(StrEnum):
    """What `siding` alone does."""

    SCREEN = "screen"
    PLAIN = "plain"
    TODAY = "today"  # print the day and end


def way_of(
    env: Mapping[str, str], *, at_terminal: bool, in_step: bool, plain: bool, said: str
) -> Way:
    """Return what is shown. `plain` was asked for now; `said` is by the settings."""
    if plain:
        return Way.PLAIN
    if not at_terminal or in_step:  # in a pipe, or by an agent in a run
        return Way.TODAY
    if said == Way.TODAY:
        return Way.TODAY
    wants = env.get("SIDING_PLAIN", "") not in ("", "0")
    if said == Way.PLAIN or wants or env.get("TERM", "") in ("", "dumb"):
        return Way.PLAIN
    return Way.SCREEN


def is_at_terminal() -> bool:
    """Tell whether what is typed and what is shown are at a terminal."""
    try:
        return os.isatty(0) and os.isatty(1) and not sys.stdin.closed and not sys.stdout.closed
    except (AttributeError, OSError):
        return False


def opened(app: App, *, plain: bool, at: "Address | None" = None) -> int | None:
    """Show the terminal until it is left; None if the day is to be printed instead.

    `at` is what the screen shows first. Plain mode has no places: None, where it would be shown.
    """
    if home_is_hidden(app):
        return None
    at_terminal = is_at_terminal()
    if not plain and not at_terminal:
        return None
    settings = terminal_settings(app.home.config_path)
    way = way_of(
        app.env,
        at_terminal=at_terminal,
        in_step=is_in_step(app),
        plain=plain,
        said=settings.open,
    )
    if way is Way.TODAY or (way is Way.PLAIN and at is not None):
        return None
    if way is Way.PLAIN:
        from siding.faces.tui.plain.conversation import Plain

        gc.enable()
        return Plain(app, sys.stdin, sys.stdout).run()
    return _screen(app, settings, at)


def _screen(app: App, settings: "TerminalSettings", at: "Address | None") -> int:
    """Draw the first frame, load the screen and run it; leave the terminal as it was found."""
    from siding.faces.tui.frame import first_frame

    before = termios.tcgetattr(0)
    atexit.register(_put_back, before)
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave_at_once)
    try:
        _keys_at_once()
        columns, lines = os.get_terminal_size(1)
        # The kept frame is of Home.
        drawn = first_frame(app, columns, lines) if at is None else f"siding: {at}"[:columns]
        os.write(1, (_ENTER + drawn).encode("utf-8", "replace"))
        return _run(app, settings, before, at)
    except (KeyboardInterrupt, SystemExit):
        with suppress(OSError):
            os.write(1, _LEAVE.encode())
        raise
    finally:
        _put_back(before)


def _run(app: App, settings: "TerminalSettings", modes: list[Any], at: "Address | None") -> int:
    palette, typed = palette_of(app.env, "", settings.theme), b""
    asks = palette != NONE and settings.theme == "auto"
    asked_at = ask_background(1) if asks else 0.0
    from siding.faces.tui.screen import run_screen  # while the terminal answers

    if asks:
        answer = answered(0, asked_at)
        palette = palette_of(app.env, answer.background or background_of(app.env))
        typed = answer.typed
    ascii_only = is_ascii(app.env)
    return run_screen(app, settings, palette, is_ascii=ascii_only, typed=typed, modes=modes, at=at)


def _leave_at_once(number: int, frame: object) -> None:
    del frame
    raise SystemExit(128 + number)


def _keys_at_once() -> None:
    """Have keys wait without echo. Ctrl+c still ends us, until the screen takes keys."""
    found = termios.tcgetattr(0)
    found[tty.LFLAG] &= ~(termios.ECHO | termios.ICANON)
    found[tty.IFLAG] &= ~termios.ICRNL
    found[tty.CC][termios.VMIN], found[tty.CC][termios.VTIME] = 1, 0
    termios.tcsetattr(0, termios.TCSANOW, found)


def _put_back(before: list[Any]) -> None:
    with suppress(termios.error):  # the terminal is gone
        termios.tcsetattr(0, termios.TCSADRAIN, before)
