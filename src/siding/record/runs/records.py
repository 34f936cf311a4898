"""Records of runs on disk: how one is begun, written, read, settled and removed."""

import os
from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Self

from siding.ground.errors import NotARegularFile, SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import read_small
from siding.ground.process.broker.place import remove_place
from siding.ground.process.identity import await_end, boot_id, started_of
from siding.ground.process.keeper.child import Survival
from siding.ground.storage.codec import encode_document
from siding.ground.storage.documents import read_document_or_none
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.runs.run import ProcessMark, Run, run_number
from siding.record.runs.small_files import NEW, open_anew, remove_small, replace_small
from siding.record.runs.store import AGENT, RECORD, SOCKET, WIRE, Runs, socket_of

RUN_VERSION = 1
_LOCK, _FATE, _LAST = ".lock", ".fate", "last"
# What a lock that cannot be opened says: something else stands in its place, or it is not ours.
_NO_LOCK = (NotARegularFile, PermissionError)


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
        fate = open_anew(self._directory / f"{self.run.id}{_FATE}")
        return Survival(locks=(self._lock.fd,), fate=fate)

    def started(self, command: ProcessMark, keeper: ProcessMark) -> None:
        """Write down the processes of the command and its keeper, for those who look; a full disk
        is no reason to end them."""
        self.run = self.run._replace(command=command, keeper=keeper)
        with suppress(OSError):
            _write(self._directory, self.run)

    def end(self) -> None:
        """Remove the record: the run's step is in the ledger, or the run makes no step.

        If the disk fails, the next command in the task removes it.
        """
        with suppress(OSError):
            _remove(self._directory, self.run)

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
        lock = FileLock(self._directory / f"{run.id}{_LOCK}").acquire(timeout_s=0, holder=holder)
        try:
            _write(self._directory, run)
        except BaseException:
            lock.path.unlink(missing_ok=True)
            lock.release()
            raise
        return LiveRun(self._directory, run, lock)

    def fate(self, run: Run) -> int | None:
        """Return how the command of a run ended that survived its host: its exit status, -N for
        signal N; None if nobody wrote it down."""
        data = read_small(self._directory / f"{run.id}{_FATE}", 64) or b""
        digits, newline, _rest = data.partition(b"\n")
        if not newline or not digits.isdigit():
            return None
        return os.waitstatus_to_exitcode(int(digits))

    def forget(self, run: Run) -> bool:
        """Remove the record of a run that was cut off and is settled; False if it lives.

        The caller holds the task's lock.
        """
        lock = FileLock(self._directory / f"{run.id}{_LOCK}")
        try:
            lock.acquire(timeout_s=0)
        except LockBusy:
            return False
        except _NO_LOCK:
            if is_alive(run):
                return False
        try:
            _remove(self._directory, run)
        finally:
            lock.release()
        return True

    def wait(self, run: Run) -> None:
        """Wait until the run's host has recorded it or died."""
        path = self._directory / f"{run.id}{_LOCK}"
        if path.exists():
            try:
                FileLock(path).acquire(timeout_s=None).release()
            except _NO_LOCK:
                _await_end(run)
                return
            if not (self._directory / f"{run.id}{RECORD}").exists():
                path.unlink(missing_ok=True)  # the waiting made it again

    def _last(self) -> int:
        """Return the number of the newest run; 0 if the file is lost or damaged."""
        data = read_small(self._directory / _LAST, 64) or b""
        with suppress(ValueError):  # no more digits than the id of a run can have
            return run_number(f"r{data.strip().decode('ascii', 'replace')}")
        return 0


def is_held(directory: Path, number: int) -> bool | None:
    """Tell whether the lock of a run is held; None if it cannot be opened."""
    try:
        return FileLock(directory / f"r{number}{_LOCK}").is_locked()
    except _NO_LOCK:
        return None


def _write(directory: Path, run: Run) -> None:
    data = encode_document({"version": RUN_VERSION, **run.as_record()})
    replace_small(directory / f"{run.id}{RECORD}", data)


def read_record(directory: Path, number: int) -> Run | None:
    """Return the run; None if its record is gone.

    Of a record that a power cut left empty or torn, or that nobody may read, only the number is
    known.
    """
    try:
        document = read_document_or_none(
            directory / f"r{number}{RECORD}", what="run", version=RUN_VERSION
        )
    except (SidingError, PermissionError):
        document = {}
    return None if document is None else Run.from_record(number, document)


def _remove(directory: Path, run: Run) -> None:
    if run.broker:
        remove_place(run.broker)
    for suffix in (RECORD, RECORD + NEW, SOCKET, _FATE, AGENT, AGENT + NEW, WIRE, _LOCK):
        remove_small(directory / f"{run.id}{suffix}")


def is_alive(run: Run) -> bool:
    """Tell whether the host of a run lives, or its keeper, where its lock does not say it."""
    return run.boot == boot_id() and any(
        started_of(mark.pid) == mark.started for mark in (run.host, run.keeper) if mark.pid
    )


def _await_end(run: Run) -> None:
    """Wait until neither the host of a run nor its keeper lives."""
    for mark in (run.host, run.keeper):
        if mark.pid:
            await_end(mark.pid, mark.started, seconds=inf)
