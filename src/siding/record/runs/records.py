"""The record of one run on disk: written, read and removed; whether its host lives."""

from math import inf
from pathlib import Path

from siding.ground.errors import NotARegularFile, SidingError
from siding.ground.process.broker.place import remove_place
from siding.ground.process.identity import await_end, boot_id, started_of
from siding.ground.storage.documents import read_document_or_none
from siding.ground.storage.locks import FileLock
from siding.ground.storage.writes import encode_document
from siding.record.runs.file_names import AGENT, RECORD, SOCKET, WIRE
from siding.record.runs.run import Run
from siding.record.runs.small_files import NEW, remove_small, replace_small

RUN_VERSION = 1
LOCK, FATE = ".lock", ".fate"
# What a lock that cannot be opened says: something else stands in its place, or it is not ours.
NO_LOCK = (NotARegularFile, PermissionError)


def has_host(run: Run) -> bool:
    """Tell whether the host of a run lives.

    Without one its keeper holds it until it has ended (`ground.process.keeper.program`).
    """
    return not run.keeper.pid or started_of(run.host.pid) == run.host.started


def is_held(directory: Path, number: int) -> bool | None:
    """Tell whether the lock of a run is held; None if it cannot be opened."""
    try:
        return FileLock(directory / f"r{number}{LOCK}").is_locked()
    except NO_LOCK:
        return None


def write_record(directory: Path, run: Run) -> None:
    """Write the record of a run; it is not flushed."""
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


def remove_record(directory: Path, run: Run) -> None:
    """Remove the record of a run, and the files beside it."""
    if run.broker:
        remove_place(run.broker)
    for suffix in (RECORD, RECORD + NEW, SOCKET, FATE, AGENT, AGENT + NEW, WIRE, LOCK):
        remove_small(directory / f"{run.id}{suffix}")


def is_alive(run: Run) -> bool:
    """Tell whether the host of a run lives, or its keeper, where its lock does not say it."""
    return run.boot == boot_id() and any(
        started_of(mark.pid) == mark.started for mark in (run.host, run.keeper) if mark.pid
    )


def await_host(run: Run) -> None:
    """Wait until neither the host of a run nor its keeper lives."""
    for mark in (run.host, run.keeper):
        if mark.pid:
            await_end(mark.pid, mark.started, seconds=inf)
