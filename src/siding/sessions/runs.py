"""Which run is about which conversation, by what agents reported. Ledgers are read when they grow.

What was read of a ledger is kept beside the other caches; it can be deleted at any time.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.fields import mapping, text, whole
from siding.record.ledger.store import Ledger
from siding.record.place.project import Project

VERSION = 2  # 2: turns, too


class ReportedRun(NamedTuple):
    """The newest run that an agent's conversation was part of."""

    task: TaskId
    step: int


def reported_runs(project: Project, cache: Path) -> dict[str, ReportedRun]:
    """Return the runs of all tasks of a project by the id of the conversation they reported."""
    known = _read(cache)
    ledgers: dict[str, object] = {}
    found: dict[str, ReportedRun] = {}
    for task, path in _ledgers(project):
        try:
            status = path.stat()
        except OSError:
            continue
        stamp = f"{status.st_size} {status.st_mtime_ns}"
        entry = mapping(known.get(task))
        sessions = mapping(entry.get("sessions"))
        if text(entry.get("stamp")) != stamp:
            sessions = _sessions_in(Ledger(path))
        ledgers[task] = {"stamp": stamp, "sessions": dict(sessions)}
        for session, step in sessions.items():
            found[session] = ReportedRun(task=task, step=whole(step))
    if ledgers != known:
        with suppress(OSError, SidingError):
            write_document(cache, {"version": VERSION, "ledgers": ledgers})
    return found


def _read(cache: Path) -> dict[str, object]:
    try:
        document = read_document_or_none(cache, what="list of reported runs", version=VERSION)
    except (OSError, SidingError):
        return {}
    return dict(mapping((document or {}).get("ledgers")))


def _ledgers(project: Project) -> Iterator[tuple[TaskId, Path]]:
    try:
        tasks = sorted(project.tasks.ids())
    except OSError:
        return
    for task in tasks:
        yield task, project.task_layout(task).ledger_jsonl


def _sessions_in(ledger: Ledger) -> dict[str, int]:
    found: dict[str, int] = {}
    with suppress(OSError, SidingError):
        for step in ledger.steps():
            run = step.as_run
            if run is not None and run.reported is not None and run.reported.session:
                found[run.reported.session] = step.number
            turn = step.as_checkpoint
            if turn is not None and turn.session:  # also of an agent that has no run
                found[turn.session] = step.number
    return found
