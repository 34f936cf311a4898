"""Print the traps of a step or a task: files that a program outside runs later."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from siding.faces.cli.screen.words import counted

if TYPE_CHECKING:
    from siding.record.recording.step_details import Trap
    from siding.record.recording.steps import Step

SHOWN = 20


def trap_lines(step: "Step") -> list[tuple[str, str]]:
    """Return the lines of `siding show` about the traps of a step."""
    count = step.trap_count
    if not count:
        return []
    lines = [("trap", words_of(each)) for each in step.traps[:SHOWN]]
    more = count - len(lines)
    return [*lines, ("", f"and {more} more")] if more > 0 else lines


def trapped(step: "Step") -> str:
    """Return the mark that `siding log` puts behind a step with traps."""
    count = step.trap_count
    return f" ({counted(count, 'trap')})" if count else ""


def words_of(trap: "Trap") -> str:
    """Return a trap in one line."""
    return f"{trap.path} ({trap.by}, {trap.when})"


def listed(traps: "Sequence[Trap]") -> Iterable[str]:
    """Yield a line for each trap, and one that counts those that are not named."""
    yield from (words_of(each) for each in traps[:SHOWN])
    if len(traps) > SHOWN:
        yield f"and {len(traps) - SHOWN} more"
