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
from siding.ground.process.spawn_plan import Survival
from siding.ground.storage.codec import encode_document
from siding.ground.storage.documents import read_document_or_none
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.runs.run import ProcessMark, Run, run_number
from siding.record.runs.small_files import NEW, open_anew, remove_small, replace_small

RUN_VERSION = 1
_RECORD, _LOCK, _SOCKET, _FATE, _LAST = ".json", ".lock", ".sock", ".fate", "last"
WIRE = ".wire"  # what passed the proxy of the run (`siding.sandbox.wire`)
AGENT = ".agent"  # what the run's agent has reported (`reported`)
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
        return _socket_of(self._directory, self.run)

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


class Runs:
    """The runs of one task that live or were cut off."""

    def __init__(self, layout: TaskLayout) -> None:
        self._directory = layout.runs_dir

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

    def live(self) -> list[Run]:
        """Return the runs whose host lives, oldest first."""
        return [run for run, lives in self._all() if lives]

    def cut_off(self) -> list[Run]:
        """Return the runs whose host died before their step was recorded, oldest first."""
        return [run for run, lives in self._all() if not lives]

    def socket(self, run: Run) -> Path:
        """Return where the host of a run listens to those who watch it."""
        return _socket_of(self._directory, run)

    def fate(self, run: Run) -> int | None:
        """Return how the command of a run ended that survived its host: its exit status, -N for
        signal N; None if nobody wrote it down."""
        data = read_small(self._directory / f"{run.id}{_FATE}", 64) or b""
        digits, newline, _rest = data.partition(b"\n")
        if not newline or not digits.isdigit():
            return None
        return os.waitstatus_to_exitcode(int(digits))

    def find(self, run_id: str) -> Run | None:
        """Return the run with this id; None if it has ended or never was."""
        return next((run for run, _lives in self._all() if run.id == run_id), None)

    def is_there(self, run_id: str) -> bool:
        """Tell whether a run has a record: it lives, or was cut off and is not settled yet."""
        return (self._directory / f"{run_id}{_RECORD}").exists()

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
            if _is_there(run):
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
            if not (self._directory / f"{run.id}{_RECORD}").exists():
                path.unlink(missing_ok=True)  # the waiting made it again

    def _all(self) -> list[tuple[Run, bool]]:
        found = []
        for number in sorted(self._numbers()):
            # The lock first: a run that ends removes its record before it releases its lock.
            lives = self._is_held(number)
            run = _read(self._directory, number)
            if run is not None:
                found.append((run, _is_there(run) if lives is None else lives))
        return found

    def _is_held(self, number: int) -> bool | None:
        """Tell whether the lock of a run is held; None if it cannot be opened."""
        try:
            return FileLock(self._directory / f"r{number}{_LOCK}").is_locked()
        except _NO_LOCK:
            return None

    def _numbers(self) -> list[int]:
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        numbers = []
        for name in names:
            if name.endswith(_RECORD):
                with suppress(ValueError):
                    numbers.append(run_number(name.removesuffix(_RECORD)))
        return numbers

    def _last(self) -> int:
        """Return the number of the newest run; 0 if the file is lost or damaged."""
        data = read_small(self._directory / _LAST, 64) or b""
        with suppress(ValueError):  # no more digits than the id of a run can have
            return run_number(f"r{data.strip().decode('ascii', 'replace')}")
        return 0


def is_at_work(layout: TaskLayout) -> bool:
    """Tell whether a command holds the task, or a run lives in it."""
    return FileLock(layout.lock).is_locked() or bool(Runs(layout).live())


def _socket_of(directory: Path, run: Run) -> Path:
    return directory / f"{run.id}{_SOCKET}"


def _write(directory: Path, run: Run) -> None:
    data = encode_document({"version": RUN_VERSION, **run.as_record()})
    replace_small(directory / f"{run.id}{_RECORD}", data)


def _read(directory: Path, number: int) -> Run | None:
    """Return the run; None if its record is gone.

    Of a record that a power cut left empty or torn, or that nobody may read, only the number is
    known.
    """
    try:
        document = read_document_or_none(
            directory / f"r{number}{_RECORD}", what="run", version=RUN_VERSION
        )
    except (SidingError, PermissionError):
        document = {}
    return None if document is None else Run.from_record(number, document)


def _remove(directory: Path, run: Run) -> None:
    if run.broker:
        remove_place(run.broker)
    for suffix in (_RECORD, _RECORD + NEW, _SOCKET, _FATE, AGENT, AGENT + NEW, WIRE, _LOCK):
        remove_small(directory / f"{run.id}{suffix}")


def _is_there(run: Run) -> bool:
    """Tell whether the host of a run lives, or its keeper, where its lock does not say it."""
    # Imported here: every command loads this module, and hardly any lock is damaged.
    from siding.ground.process.identity import boot_id, started_of

    return run.boot == boot_id() and any(
        started_of(mark.pid) == mark.started for mark in (run.host, run.keeper) if mark.pid
    )


def _await_end(run: Run) -> None:
    """Wait until neither the host of a run nor its keeper lives."""
    from siding.ground.process.identity import await_end

    for mark in (run.host, run.keeper):
        if mark.pid:
            await_end(mark.pid, mark.started, seconds=inf)
