"""Show the first start over the place, and do what is answered."""

from textual.app import App

from siding.faces.tui.first import First
from siding.faces.tui.found import Found, remember
from siding.faces.tui.ports import AppPort
from siding.feed.model import AskKind
from siding.guard.guard import Guard, answer_guard, guard
from siding.running.installed_agents import installed


def greet(port: AppPort, screens: App[int]) -> None:
    """Show the first start; what is answered is done, and that it was shown is kept."""
    siding = port.siding
    hooks = sum(ask.kind is AskKind.HOOKS for ask in port.feed.asks)
    agents = installed(siding.env, siding.cwd)
    found = Found(agents=agents, guard=guard(siding), hooks=hooks)

    def left(turns_guard_on: bool | None) -> None:
        remember(siding)
        if turns_guard_on:
            port.work(
                lambda: answer_guard(siding, Guard.ON),
                then=lambda _done: port.say("agents run guarded from now on: siding guard"),
            )

    screens.push_screen(First(found, port.look), left)
