"""Run the screen of the terminal. Loaded, with Textual, once it is decided that it is shown."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from siding.asking.screens import OpenScreen
from siding.faces.tui.app import Options, SidingApp
from siding.faces.tui.frame import keep_frame
from siding.faces.tui.rows.styles import Look, Palette
from siding.feed.addresses import Address
from siding.feed.client import Viewer
from siding.record.place.terminal_settings import TerminalSettings
from siding.record.place.wiring import App


def run_screen(
    app: App,
    settings: TerminalSettings,
    palette: str,
    *,
    is_ascii: bool,
    typed: bytes,
    modes: Sequence[Any],
    at: Address | None = None,
) -> int:
    """Show the screen until it is left, and return the exit status. `at` is shown over Home.

    `modes` are those of the terminal before the start, as `tcgetattr` gives them.
    """
    with ExitStack() as stack:
        screen = stack.enter_context(OpenScreen(app.home))
        options = Options(
            keys=settings.keys,
            look=Look(Palette(palette), is_ascii),
            typed=typed.decode("utf-8", "replace"),
            modes=modes,
            owns_collector=True,
            has_eyes=screen.has_eyes,
            greets=True,
            at=at,
        )
        shown = SidingApp(app, source=lambda: Viewer(app), options=options)
        status = shown.run(mouse=settings.mouse)
    if shown.failure is not None:
        raise shown.failure
    if shown.last_frame:
        keep_frame(app, *shown.last_frame)
    return status if status is not None else os.EX_OK
