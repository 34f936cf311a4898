"""What a step matched, left or changed elsewhere, in one line each: rules, traps, other places."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from siding.faces.cli.screen.screen import inert, shorten, terminal_columns

if TYPE_CHECKING:
    from siding.record.recording.step_details import OutsideChange, PolicyEvent, Trap
    from siding.record.recording.steps import Step

TRAPS_SHOWN = 20


def trap_words(trap: "Trap") -> str:
    """Return a trap in one line."""
    return f"{trap.path} ({trap.by}, {trap.when})"


def listed(traps: "Sequence[Trap]") -> Iterable[str]:
    """Yield a line for each trap, and one that counts those that are not named."""
    yield from (trap_words(each) for each in traps[:TRAPS_SHOWN])
    if len(traps) > TRAPS_SHOWN:
        yield f"and {len(traps) - TRAPS_SHOWN} more"


def event_words(event: "PolicyEvent") -> str:
    """Return what the policy said of a command, in one line."""
    what = command_line(event.command, event.via) if event.command else ""
    return inert(f"{what}: {event.reason or 'matched'} ({event.rule})").removeprefix(": ")


def command_line(command: str, via: tuple[str, ...]) -> str:
    """Return a command, and through which others it came, in one line of the terminal."""
    inside = f"{' > '.join(via)} > " if via else ""
    return inert(inside) + shorten(inert(command), max(40, terminal_columns() - 8))


def outside_words(change: "OutsideChange") -> str:
    """Return a change outside a workspace in one line."""
    from siding.running.outside_changes import say

    return inert(say(change))


def kept_words(home: Path, step: "Step | None") -> Iterator[str]:
    """Yield a sentence for each file that others wrote while the act of `step` moved files.

    `home` is the project's directory, where what they wrote is kept.
    """
    for path in () if step is None else step.kept:
        yield f"a file was written during this by another program: kept as {home / path}"
