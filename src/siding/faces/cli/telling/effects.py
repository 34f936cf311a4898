"""What verbs say of the effect of a command that a person is asked about."""

from __future__ import annotations

from siding.faces.cli.screen.screen import Screen, inert

_COLOURS = {"+": "green", "-": "red", "~": "yellow"}


def print_effect(screen: Screen, lines: list[str]) -> None:
    """Print the lines of an effect (`lines_of`): what it is, its files, what is not shown."""
    first, *rest = map(inert, lines)
    screen.print(screen.style(first, "bold"))
    for line in rest:
        screen.print(screen.style(line, _COLOURS.get(line.strip()[:1], "dim")))
