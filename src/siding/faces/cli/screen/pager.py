"""Send long results through the person's pager when standard output is a terminal."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from siding.faces.cli.screen.screen import Screen

# F: leave when it fits on one screen; R: show colours; X: leave it on the screen.
DEFAULT_LESS = "FRX"


@contextmanager
def paged(screen: Screen) -> Iterator[None]:
    """Send what is printed meanwhile to ``$SIDING_PAGER``, ``$PAGER`` or ``less``.

    Only when standard output is a terminal; a pager that cannot be started is done without.
    Leaving the pager early ends the printing quietly.
    """
    command = _command(screen)
    if command is None:
        yield
        return
    from siding.record.place.pager import start_pager

    screen.out.flush()
    env = {**screen.env, "LESS": screen.env.get("LESS", DEFAULT_LESS), "LESSCHARSET": "utf-8"}
    pager = start_pager(command, env)
    if pager is None:
        yield
        return
    before = screen.out
    screen.out = os.fdopen(pager.fd, "w", encoding="utf-8", errors="backslashreplace")
    try:
        yield
        screen.out.flush()
    except BrokenPipeError:
        pass  # the person left the pager
    finally:
        try:
            screen.out.close()
        except BrokenPipeError:
            pass
        screen.out = before
        pager.wait()


def _command(screen: Screen) -> list[str] | None:
    if not (screen.out is sys.stdout and sys.stdout.isatty() and sys.stdin.isatty()):
        return None
    wish = screen.env.get("SIDING_PAGER", screen.env.get("PAGER", "less"))
    if wish in ("", "cat") or os.environ.get("TERM") == "dumb":
        return None
    from shlex import split

    try:
        return split(wish) or None
    except ValueError:
        return None
