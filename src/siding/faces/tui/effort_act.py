"""Open the panel of efforts for the task that a place is about, and do what was chosen."""

from collections.abc import Callable

from textual.app import App

from siding.faces.tui.effort.model import ULTRA_SAID, UNCHANGED, Left, Outcome, Panel
from siding.faces.tui.effort.panel import EffortPanel
from siding.faces.tui.ports import AppPort
from siding.feed.addresses import Address


def open_effort(
    port: AppPort, screens: App[int], address: Address | None, changed: Callable[[], None]
) -> None:
    """Show the panel for the newest conversation of a task; `changed` is called after a change."""
    if address is None or not address.place:
        port.say("the effort is that of a conversation: choose the row of its task")
        return
    task = address

    def read() -> Panel:
        from siding.faces.tui.acts.effort import read_effort

        return read_effort(port.siding, task)

    def show(panel: Panel) -> None:
        def left(left: Left | None) -> None:
            _leave(port, task, left, changed)

        screens.push_screen(EffortPanel(panel, port.look), left)

    port.work(read, then=show)


def _leave(port: AppPort, task: Address, left: Left | None, changed: Callable[[], None]) -> None:
    if left is None or left.outcome is Outcome.CANCEL:
        port.say(UNCHANGED)
        return
    if left.outcome is Outcome.ULTRA:
        port.say(ULTRA_SAID)
        return

    def change() -> str:
        from siding.faces.tui.acts.effort import set_effort

        return set_effort(port.siding, task, left.position)

    def told(said: str) -> None:
        port.say(said)
        changed()

    port.work(change, then=told)
