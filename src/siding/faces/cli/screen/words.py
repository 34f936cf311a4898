"""Put times, sizes and counts into words."""

from datetime import timedelta
from typing import TYPE_CHECKING

from siding.faces.cli.screen.screen import inert, shorten
from siding.ground.errors import counted
from siding.record.place.quantities import ago as ago
from siding.record.place.quantities import duration as duration
from siding.record.place.quantities import parsed
from siding.record.place.quantities import seconds_ago as seconds_ago
from siding.record.place.quantities import seconds_in as seconds_in

if TYPE_CHECKING:
    from siding.faces.cli.screen.figures import Figures, RunFigures

NAME_COLUMNS = 32  # of a task's name at the beginning of a line
TITLE_COLUMNS = 60  # of a run's title within a line


def local_time(moment: str, *, before_ms: int = 0) -> str:
    """Return an ISO 8601 moment, or so many milliseconds before it, in local time."""
    then = parsed(moment)
    if then is None:
        return moment
    then -= timedelta(milliseconds=before_ms)
    return then.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def size(count: int) -> str:
    """Return a number of bytes as ``512 B``, ``1.4 MiB``."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError("unreachable")


def changes(files: int, additions: int, deletions: int, modes: int = 0) -> str:
    """Return ``3 files +10 -2``, ``permissions of 1 path``, both, or ``no change``."""
    parts = []
    if files:
        parts.append(f"{counted(files, 'file')} +{additions} -{deletions}")
    if modes:
        parts.append(f"permissions of {counted(modes, 'path')}")
    return ", ".join(parts) or "no change"


def changes_of(step: "Figures") -> str:
    """Return what a step changed; links and empty directories only if it changed nothing else."""
    if not (step.files or step.modes):
        parts = []
        if step.links:
            parts.append(f"links of {counted(step.links, 'file')}")
        if step.directories:
            kind = "empty directory" if step.directories == 1 else "empty directories"
            parts.append(f"{step.directories} {kind}")
        if parts:
            return ", ".join(parts)
    return changes(step.files, step.additions, step.deletions, step.modes)


def changes_with_turns(step: "RunFigures") -> str:
    """Return what a step changed: ``1 file in 2 turns (0001-0002)`` if the turns of a run did."""
    turns = step.turns
    if turns is None:
        return changes_of(step)
    first, last = turns.steps[0], turns.steps[-1]
    where = first if first == last else f"{first}-{last}"
    by_turns = f"{counted(turns.files, 'file')} in {counted(turns.number, 'turn')} ({where})"
    own = changes_of(step)
    return by_turns if own == changes(0, 0, 0) else f"{by_turns}, then {own}"


def task_name(name: str) -> str:
    """Return a task's name, shortened, for the beginning of a line about the task."""
    return shorten(inert(name), NAME_COLUMNS)


def task_step(name: str, step_id: str) -> str:
    """Return ``fix the parser · step 0003``."""
    return f"{task_name(name)} · step {step_id}"


def port_range(ports: range) -> str:
    """Return the ports of a task in words; "" if it has none."""
    return f"{ports[0]}-{ports[-1]}" if ports else ""
