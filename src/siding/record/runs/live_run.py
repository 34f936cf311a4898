"""A run whose host is this process, and how runs are begun, awaited and settled."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import read_small
from siding.ground.process.command import Survival
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.runs.file_names import RECORD, socket_of
from siding.record.runs.records import (
    FATE,
    LOCK,
    NO_LOCK,
    await_host,
    is_alive,
    remove_record,
    write_record,
)
from siding.record.runs.run import ProcessMark, Run, run_number
from siding.record.runs.small_files import open_anew, replace_small
from siding.record.runs.store import Runs

_LAST = "last"


class LiveRun:
    """A run whose host is this process. Leaving the `with` block releases its lock.

    Call `end` when the step of the run is recorded; without that the run counts as cut off.
    """

    def __init__(self, directory: Path, run: Run, lock: FileLock) -> None:
        self.run = run
        self._directory = directory
        self._lock = lock

    @property
    def socket(self) -> Path:
        """Where the host listens to those who watch the run."""
        return socket_of(self._directory, self.run)

    def survival(self) -> Survival:
        """Return what the keeper needs to hold if the run is to survive its host.

        The caller closes `fate`. Raises OSError.
        """
        fate = open_anew(self._directory / f"{self.run.id}{FATE}")
        return Survival(locks=(self._lock.fd,), fate=fate)

    def started(self, command: ProcessMark, keeper: ProcessMark) -> None:
        """Write down the processes of the command and its keeper, for those who look; a full disk
        is no reason to end them."""
        self.run = self.run._replace(command=command, keeper=keeper)
        with suppress(OSError):
            write_record(self._directory, self.run)

    def end(self) -> None:
        """Remove the record: the run's step is in the ledger, or the run makes no step.

        If the disk fails, the next command in the task removes it.
        """
        with suppress(OSError):
            remove_record(self._directory, self.run)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.release()


class RunRecords(Runs):
    """The runs of one task, for whoever begins, awaits or settles one."""

    def begin(self, run: Run, holder: Holder, *, highest: Callable[[], int]) -> LiveRun:
        """Give a new run its number, take its lock and write its record; return it.

        The caller holds the task's lock. `highest` returns the highest number that a run of this
        task has in the ledger; it is called if ``runs/last`` is lost.
        """
        make_dirs(self._directory)
        used = max([self._last() or highest(), *self._numbers()])
        run = run._replace(number=used + 1)
        replace_small(self._directory / _LAST, f"{run.number}\n".encode())
        lock = FileLock(self._directory / f"{run.id}{LOCK}").acquire(timeout_s=0, holder=holder)
        try:
            write_record(self._directory, run)
        except BaseException:
            lock.path.unlink(missing_ok=True)
            lock.release()
            raise
        return LiveRun(self._directory, run, lock)

    def fate(self, run: Run) -> int | None:
        """Return how the command of a run ended that survived its host: its exit status, -N for
        signal N; None if nobody wrote it down."""
        data = read_small(self._directory / f"{run.id}{FATE}", 64) or b""
        digits, newline, _rest = data.partition(b"\n")
        if not newline or not digits.isdigit():
            return None
        return os.waitstatus_to_exitcode(int(digits))

    def forget(self, run: Run) -> bool:
        """Remove the record of a run that was cut off and is settled; False if it lives.

        The caller holds the task's lock.
        """
        lock = FileLock(self._directory / f"{run.id}{LOCK}")
        try:
            lock.acquire(timeout_s=0)
        except LockBusy:
            return False
        except NO_LOCK:
            if is_alive(run):
                return False
        try:
            remove_record(self._directory, run)
        finally:
            lock.release()
        return True

    def wait(self, run: Run) -> None:
        """Wait until the run's host has recorded it or died."""
        path = self._directory / f"{run.id}{LOCK}"
        if path.exists():
            try:
                FileLock(path).acquire(timeout_s=None).release()
            except NO_LOCK:
                await_host(run)
                return
            if not (self._directory / f"{run.id}{RECORD}").exists():
                path.unlink(missing_ok=True)  # the waiting made it again

    def _last(self) -> int:
        """Return the number of the newest run; 0 if the file is lost or damaged."""
        data = read_small(self._directory / _LAST, 64) or b""
        with suppress(ValueError):  # no more digits than the id of a run can have
            return run_number(f"r{data.strip().decode('ascii', 'replace')}")
        return 0
