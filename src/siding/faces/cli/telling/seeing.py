"""Show traps to a person at a terminal, and ask whether they have seen them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from siding.faces.cli.screen.asking import agreed, can_ask
from siding.faces.cli.screen.screen import Screen, inert

if TYPE_CHECKING:
    from siding.record.recording.step_details import Trap


def ask_seen(screen: Screen) -> "Callable[[tuple[Trap, ...]], bool] | None":
    """Return a function that shows traps to a person, or None if nobody is at a terminal."""
    if not can_ask():
        return None
    return lambda traps: asked_of_person(screen, traps, "run the command beside them?")


def asked_of_person(screen: Screen, traps: "tuple[Trap, ...]", question: str) -> bool:
    """List the traps, and tell whether the person says that it goes on."""
    from siding.faces.cli.telling.traps import listed

    screen.warn("left here for other programs to run, and not seen yet:")
    for line in listed(traps):
        screen.warn(f"  {inert(line)}")
    screen.note("  `siding diff PATH` shows what is in them, but for what git ignores", "dim")
    return agreed(question)
