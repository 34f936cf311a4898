"""The output file and the processes that a run leaves behind."""

from collections.abc import Sequence
from pathlib import Path

from siding.ledger.intents import Intent
from siding.ledger.reports import LeftProcess
from siding.process.command import ProcessInfo
from siding.process.output_files import has_output
from siding.storage.layout import TaskLayout


def output_of(layout: TaskLayout, intent: Intent) -> Path:
    """Return the path of an act's output file.

    The file is named after the act until the step is recorded. If the recording was cut off, it may
    have the step's number already.
    """
    path = layout.artifact(intent.stem, "output")
    return path if has_output(path) else layout.artifact(intent.number, "output")


def as_left(processes: Sequence[ProcessInfo]) -> tuple[LeftProcess, ...]:
    """Return the processes in the form of a ledger line."""
    return tuple(LeftProcess(*each) for each in processes)
