"""The runs of a project's workflows on disk, a folder each; see FORMAT.md.

A process that works on a run holds the lock in its folder: a run that is not over and whose lock is
free was interrupted, and can be resumed.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from siding.ground.errors import SidingError, UnreadableFile
from siding.ground.files.durable import create_bytes, make_dirs, replace_bytes, write_all
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.ground.storage.writes import encode_document
from siding.record.place.project import Project
from siding.workflows.errors import RunIsLive, WorkflowNotFound
from siding.workflows.state import RunState, RunStatus, state_from

RUN_VERSION = 1
RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_ID_LENGTH = 8


class RunRecord(NamedTuple):
    """What a run was asked to do: enough to resume it in another process."""

    run_id: str
    name: str
    origin: str  # name, path or inline
    path: str  # of the script as it was found; "" for an inline one
    task: str
    args: Any
    created_at: str
    options: Mapping[str, Any] = {}

    def as_record(self) -> dict[str, Any]:
        return {
            "version": RUN_VERSION,
            "run_id": self.run_id,
            "name": self.name,
            "origin": self.origin,
            "path": self.path,
            "task_id": self.task,
            "args": self.args,
            "created_at": self.created_at,
            "options": dict(self.options),
        }


class RunFolder:
    """The files of one run."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def run_id(self) -> str:
        return self.root.name

    @property
    def journal(self) -> Path:
        return self.root / "journal.jsonl"

    @property
    def script(self) -> Path:
        return self.root / "script.py"

    @property
    def state_json(self) -> Path:
        return self.root / "state.json"

    @property
    def log(self) -> Path:
        """The events of the run, one a line, for those who watch it. Not flushed."""
        return self.root / "log.jsonl"

    @property
    def socket(self) -> Path:
        """Where the process that works on the run listens."""
        return self.root / "control.sock"

    def lock(self) -> FileLock:
        """Return the lock of the process that works on the run; it is not taken."""
        return FileLock(self.root / "lock")

    def take(self, holder: Holder) -> FileLock:
        """Take the run. Raises RunIsLive if another process has it, WorkflowNotFound if it went."""
        try:
            lock = self.lock().acquire(timeout_s=0, holder=holder)
        except FileNotFoundError:
            raise self._removed() from None
        except LockBusy as error:
            who = f", process {error.holder.pid}" if error.holder else ""
            raise RunIsLive(
                f"the run {self.run_id} is live{who}",
                hint=f"`siding workflow watch {self.run_id}` shows it; `kill` ends it",
            ) from None
        if not self.root.exists():  # it was moved with the lock file, after that was opened
            lock.release()
            raise self._removed()
        return lock

    def _removed(self) -> WorkflowNotFound:
        return WorkflowNotFound(
            f"the run {self.run_id} was removed", hint="it is in the project's trash"
        )

    def record(self) -> RunRecord:
        """Return what the run was asked to do. Raises WorkflowNotFound and UnreadableFile."""
        document = read_document_or_none(
            self.root / "run.json", what="workflow run", version=RUN_VERSION
        )
        if document is None:
            raise WorkflowNotFound(f"there is no run {self.run_id!r}")
        return RunRecord(
            run_id=self.run_id,
            name=str(document.get("name", "")),
            origin=str(document.get("origin", "")),
            path=str(document.get("path", "")),
            task=str(document.get("task_id", "")),
            args=document.get("args"),
            created_at=str(document.get("created_at", "")),
            options=document.get("options") or {},
        )

    def source(self) -> str:
        """Return the script that the run began with, or was resumed with."""
        return read_bytes(self.script).decode()

    def write_source(self, source: str) -> None:
        """Replace the script."""
        replace_bytes(self.script, source.encode())

    def write_options(self, options: Mapping[str, Any]) -> None:
        """Keep other options for the next resumption; nothing is written for the same ones."""
        record = self.record()
        if record.options != options:
            changed = record._replace(options=options)
            write_document(self.root / "run.json", changed.as_record())

    def state(self) -> RunState | None:
        """Return the state on disk; None if it cannot be read. A free lock says interrupted."""
        try:
            state = state_from(parse_object(read_bytes(self.state_json)))
        except (SidingError, OSError, NotJson):
            return None
        if state is not None and not state.is_over and not self.is_live():
            return state._replace(status=RunStatus.INTERRUPTED)
        return state

    def known_state(self) -> RunState | None:
        """Return the state, or what the record says of a run without one; None without either."""
        state = self.state()
        if state is not None:
            return state
        try:
            record = self.record()
        except (UnreadableFile, WorkflowNotFound):
            return None
        status = RunStatus.RUNNING if self.is_live() else RunStatus.INTERRUPTED
        return RunState(run_id=self.run_id, name=record.name, status=status, task=record.task)

    def state_stamp(self) -> tuple[int, int]:
        """Return a value that changes when the state on disk does; it costs one look at a file."""
        try:
            found = self.state_json.stat()
        except OSError:
            return (0, 0)
        return (found.st_mtime_ns, found.st_size)

    def write_state(self, state: RunState) -> None:
        """Replace the state. Not flushed: it can be built again from the journal."""
        data = encode_document(state.as_record())
        new = self.root / "state.json.tmp"
        fd = os.open(
            new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        try:
            write_all(fd, data)
        finally:
            os.close(fd)
        os.replace(new, self.state_json)

    def is_live(self) -> bool:
        """Tell whether a process works on the run."""
        return self.lock().is_locked()


class RunFolders:
    """All runs of a project."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @classmethod
    def of(cls, project: Project) -> "RunFolders":
        """Return the runs of a project's workflows."""
        return cls(project.layout.workflow_runs_dir)

    def create(self, record: RunRecord, source: str) -> RunFolder:
        """Make the folder of a new run, durably."""
        folder = RunFolder(self._directory / record.run_id)
        make_dirs(folder.root)
        create_bytes(folder.script, source.encode())
        write_document(folder.root / "run.json", record.as_record())
        return folder

    def find(self, named: str) -> RunFolder:
        """Return the run with this id, or the only one whose id begins so; "last" is the newest.

        Raises WorkflowNotFound.
        """
        names = self._names()
        if named == "last" and names:
            return max(self.all(), key=_age)
        if is_run_id(named):
            if named in names:
                return RunFolder(self._directory / named)
            found = [name for name in names if name.startswith(named)]
            if len(found) == 1:
                return RunFolder(self._directory / found[0])
            if found:
                raise WorkflowNotFound(f"{named!r} begins the ids of {len(found)} runs")
        raise WorkflowNotFound(
            f"there is no run {named!r}", hint="`siding workflow list` shows the runs"
        )

    def all(self) -> list[RunFolder]:
        """Return all runs, in no order."""
        return [RunFolder(self._directory / name) for name in self._names()]

    def states(self) -> Iterator[tuple[RunFolder, RunState]]:
        """Yield the runs with their states, the one that changed last first.

        A run whose state cannot be read has what its record says.
        """
        states = [(folder, folder.known_state()) for folder in self.all()]
        found = [(folder, state) for folder, state in states if state is not None]
        yield from sorted(found, key=lambda one: one[1].updated_at, reverse=True)

    def _names(self) -> list[str]:
        try:
            return [name for name in os.listdir(self._directory) if is_run_id(name)]
        except FileNotFoundError:
            return []


def _age(folder: RunFolder) -> float:
    try:
        return (folder.root / "run.json").stat().st_mtime
    except OSError:
        return 0.0


def new_run_id(random_bytes: Callable[[int], bytes]) -> str:
    """Return "w" and eight letters or digits, each equally likely."""
    letters: list[str] = []
    limit = 256 - 256 % len(_LETTERS)
    while len(letters) < _ID_LENGTH:
        some = random_bytes(_ID_LENGTH * 2)
        letters += [_LETTERS[byte % len(_LETTERS)] for byte in some if byte < limit]
    return "w" + "".join(letters[:_ID_LENGTH])


def is_run_id(text: str) -> bool:
    """Tell whether a text can be the id of a run."""
    return RUN_ID.fullmatch(text) is not None
