"""The records of a task's runs: ``runs/<id>.json`` while the run lives, and ``runs/last``.

The host of a run holds the lock ``runs/<id>.lock`` while it lives, and listens at the socket
``runs/<id>.sock`` (`siding.ground.process.control`). It removes the record and the
lock when the run's step is in the ledger. A record whose lock is free belongs to a run that was cut
off; the next command in the task settles it. Beginning and settling a run need the task's lock;
reading needs none.

A record is not flushed. After a power cut nothing runs any more, and the intent of the run's step,
which is flushed, has all that the step needs.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.storage.layout import TaskLayout
from siding.record.runs.file_names import LEFT, RECORD, socket_of

if TYPE_CHECKING:
    from siding.record.runs.run import Run


class Runs:
    """The runs of one task that live or were cut off."""

    def __init__(self, layout: TaskLayout) -> None:
        self._directory = layout.runs_dir

    def live(self) -> "list[Run]":
        """Return the runs whose host lives, oldest first."""
        return [run for run, lives in self._all() if lives]

    def cut_off(self) -> "list[Run]":
        """Return the runs whose host died before their step was recorded, oldest first."""
        return [run for run, lives in self._all() if not lives]

    def socket(self, run: "Run") -> Path:
        """Return where the host of a run listens to those who watch it."""
        return socket_of(self._directory, run)

    def find(self, run_id: str) -> "Run | None":
        """Return the run with this id; None if it has ended or never was."""
        return next((run for run, _lives in self._all() if run.id == run_id), None)

    def is_there(self, run_id: str) -> bool:
        """Tell whether a run has a record: it lives, or was cut off and is not settled yet."""
        return (self._directory / f"{run_id}{RECORD}").exists()

    def has_left(self) -> bool:
        """Tell whether a run that has ended may have left something running."""
        try:
            return any(name.endswith(LEFT) for name in os.listdir(self._directory))
        except OSError:
            return False

    def _all(self) -> "list[tuple[Run, bool]]":
        numbers = sorted(self._numbers())
        if not numbers:
            return []
        from siding.record.runs.records import is_alive, is_held, read_record

        found = []
        for number in numbers:
            # The lock first: a run that ends removes its record before it releases its lock.
            lives = is_held(self._directory, number)
            run = read_record(self._directory, number)
            if run is not None:
                found.append((run, is_alive(run) if lives is None else lives))
        return found

    def _numbers(self) -> list[int]:
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        stems = [name.removesuffix(RECORD) for name in names if name.endswith(RECORD)]
        if not stems:
            return []
        from siding.record.runs.run import run_number

        numbers = []
        for stem in stems:
            with suppress(ValueError):
                numbers.append(run_number(stem))
        return numbers


def is_at_work(layout: TaskLayout) -> bool:
    """Tell whether a command holds the task, or a run lives in it."""
    from siding.ground.storage.locks import FileLock

    return FileLock(layout.lock).is_locked() or bool(Runs(layout).live())
