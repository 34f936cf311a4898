"""What a run leaves behind, as its step tells it: its output and its processes."""

from collections.abc import Sequence
from pathlib import Path

from siding.ledger.intents import Intent
from siding.ledger.reports import LeftProcess
from siding.process.command import ProcessInfo
from siding.process.output_files import has_output
from siding.storage.layout import TaskLayout


def output_of(layout: TaskLayout, intent: Intent) -> Path:
    """Return where an act's output is: cut off in its end, it may have its number already."""
    path = layout.artifact(intent.stem, "output")
    return path if has_output(path) else layout.artifact(intent.number, "output")


def as_left(processes: Sequence[ProcessInfo]) -> tuple[LeftProcess, ...]:
    """Return processes as a line holds them."""
    return tuple(LeftProcess(*each) for each in processes)
