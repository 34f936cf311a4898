"""Put times, sizes and counts into words. Only `ago` reads the clock, unless `now` is given."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from siding.faces.cli.screen.screen import inert, shorten
from siding.ground.errors import counted
from siding.record.place.quantities import seconds_in as seconds_in

if TYPE_CHECKING:
    from siding.faces.cli.screen.figures import Figures, RunFigures

NAME_COLUMNS = 32  # of a task's name at the beginning of a line
TITLE_COLUMNS = 60  # of a run's title within a line


def duration(milliseconds: int) -> str:
    """Return ``0.4s``, ``12s``, ``3m 05s``, ``2h 10m`` or ``1d 04h``."""
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    if whole < 86400:
        return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
    return f"{whole // 86400}d {whole % 86400 // 3600:02d}h"


def ago(moment: str, now: datetime | None = None) -> str:
    """Return how long ago an ISO 8601 moment was: ``just now``, ``5m ago``, ``3d ago``."""
    then = _parsed(moment)
    if then is None:
        return "-"
    return seconds_ago(int(((now or datetime.now(UTC)) - then).total_seconds()))


def seconds_ago(seconds: int) -> str:
    """Return how long ago something was that is so many seconds old, as `ago` does."""
    if seconds < 45:
        return "just now"
    for limit, size, unit in ((3600, 60, "m"), (86400, 3600, "h"), (10**10, 86400, "d")):
        if seconds < limit:
            return f"{max(1, seconds // size)}{unit} ago"
    return "-"


def local_time(moment: str, *, before_ms: int = 0) -> str:
    """Return an ISO 8601 moment, or so many milliseconds before it, in local time."""
    then = _parsed(moment)
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


def _parsed(moment: str) -> datetime | None:
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return then if then.tzinfo else then.replace(tzinfo=UTC)


def port_range(ports: range) -> str:
    """Return the ports of a task in words; "" if it has none."""
    return f"{ports[0]}-{ports[-1]}" if ports else ""
