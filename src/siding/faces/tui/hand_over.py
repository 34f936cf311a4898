"""Give the whole terminal to a run until it is left; then take it back.

The screen is put away as for ctrl+z, and the run is shown as `siding attach` shows it, but ctrl+]
alone comes back. The loop of the screen stands still meanwhile. The thread of the feed goes on and
keeps one feed, however much changes.
"""

import os
from contextlib import AbstractContextManager
from typing import Protocol

from siding.record.place.project import require_project
from siding.record.place.wiring import App
from siding.running.attach import Left, Watched, attach, control_key, watch

KEY = "ctrl+]"
_CLEAR = b"\x1b[H\x1b[2J"


class Suspends(Protocol):
    """The app, as far as the hand-over needs it."""

    def suspend(self) -> AbstractContextManager[None]:
        """Put the screen away, and bring it back at the end of the block."""


def handed_over(screen: Suspends, app: App, project: str, task: str, run: str) -> str:
    """Show the run until it is left or ends; return a sentence about how that was.

    Raises what `attach` raises, while the screen still stands.
    """
    found = require_project(app._replace(project=project))
    # Before the screen is put away: a run that cannot be reached is said on it.
    watching = attach(
        found,
        task,
        run,
        prefix=control_key(KEY.replace("+", "-")),
        read_only=False,
        leaves_at_once=True,
    )
    try:
        with screen.suspend():
            told = f"siding: run {run}. {KEY} comes back; the run goes on.\r\n"
            os.write(1, _CLEAR + told.encode())
            watched = watch(found, watching)
    finally:
        watching.connection.close()
    return _said(run, watched)


def _said(run: str, watched: Watched) -> str:
    if watched.left is Left.DETACHED:
        return f"back from run {run}, which goes on"
    if watched.left is Left.LOST and watched.step is None:
        return f"the host of run {run} closed the connection; the run may go on"
    status = "" if watched.exit_code is None else f" with status {watched.exit_code}"
    step = "" if watched.step is None else f"; it is step {watched.step.number}"
    return f"run {run} ended{status}{step}"
