"""Where a question comes from: who asks, about which files and lines, and under which key.

Under that key it can be found again. The source lines are those that a question names, and the
lines around them. An agent chose the path and can change the files. So only files inside the
project are read: every directory of the path is opened without following links, and a link, a pipe
or anything in ``.git`` is refused.
"""

import json
import os
import stat
from pathlib import Path
from typing import Any

from siding.asking.decisions.record import Origin
from siding.asking.decisions.request import DecisionRequest, document_of
from siding.ground.errors import UsageError, counted
from siding.ground.files.durable import make_dirs
from siding.ground.hashing import sha256_hex
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import FileLock, Holder
from siding.record.place.project import WAIT_FOR_PROJECT_S, Project
from siding.record.place.selection import standing_in
from siding.record.runs.store import Runs

AROUND = 3  # lines shown before and after the named ones
MOST_LINES = 400
MOST_BYTES = 4 * 1024 * 1024
LONGEST_LINE = 2_000  # characters
# O_NONBLOCK: opening a named pipe without a writer would wait for ever.
_STEP = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def calling_task(project: Project) -> str:
    """Return the id of the task whose step or workspace the caller is in; "" if there is none."""
    named = project.app.env.get("SIDING_TASK_ID", "")
    if named and named in project.ids_at_work():
        return named
    return standing_in(project) or ""


def origin_of(project: Project, task_id: str, key: str | None, request: DecisionRequest) -> Origin:
    """Return the origin of a question that is asked now.

    Without a `key`, the key is a hash of the question and its task. Raises UsageError for a blank
    key.
    """
    if key is not None and not key.strip():
        raise UsageError("the key is blank", hint="--key takes any text, or leave it out")
    moment = project.app.clock.now().astimezone()
    run, agent = _run(project, task_id)
    return Origin(
        session_id=moment.strftime("%Y-%m-%dT%H-%M-%S"),
        created_at=moment.isoformat(timespec="seconds"),
        key=key or _content_key(task_id, request),
        key_named=key is not None,
        task_id=task_id,
        step_id=run,
        agent=agent,
    )


def choices(request: DecisionRequest) -> list[tuple[int, str, frozenset[str]]]:
    """Return the parts of a request that limit its answers: ids, kinds and option values."""
    return [
        (item.id, item.kind.value, frozenset(option.value for option in item.options))
        for item in request.items
    ]


def _content_key(task_id: str, request: DecisionRequest) -> str:
    text = json.dumps([task_id, document_of(request)], sort_keys=True)
    return f"content:{sha256_hex(text.encode('utf-8', 'surrogatepass'))}"


def _run(project: Project, task_id: str) -> tuple[str, str]:
    """Return the id of the run that the caller is in, and its agent; "" for what is unknown."""
    named = project.app.env.get("SIDING_RUN_ID", "")
    if not task_id or not named:
        return "", ""
    found = Runs(project.task_layout(TaskId(task_id))).find(named)
    return named, (found.agent or "") if found else ""


def with_relative_locations(project: Project, value: object) -> object:
    """Return the request with absolute paths inside the workspace or checkout made relative."""
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(items, list):
        return value
    return {**value, "items": [_relative_location(project, each) for each in items]}


def _relative_location(project: Project, item: Any) -> Any:
    where = item.get("location") if isinstance(item, dict) else None
    if not isinstance(where, dict):
        return item
    file = where.get("file")
    if not isinstance(file, str) or not file.startswith("/") or "\0" in file:
        return item
    roots = (root_of(project, calling_task(project)), project.paths.root)
    for root in roots:
        if Path(file).is_relative_to(root):
            inside = {**where, "file": str(Path(file).relative_to(root))}
            return {**item, "location": inside}
    return item


def root_of(project: Project, task_id: str) -> Path:
    """Return the directory that the paths of a question are relative to.

    It is the task's workspace, else the person's checkout, else the repository.
    """
    workspace = project.registry.of_task(TaskId(task_id)) if task_id else None
    if workspace is not None and Path(workspace.path).is_dir():
        return Path(workspace.path)
    checkout = project.checkout
    return project.paths.root if checkout is None else checkout.root


def holding_decisions(project: Project, what: str) -> FileLock:
    """Take the lock for changes of the decisions, and return it; it is freed by `with`."""
    make_dirs(project.layout.locks_dir)
    lock = FileLock(project.layout.lock("decisions"))
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=what)
    return lock.acquire(timeout_s=WAIT_FOR_PROJECT_S, holder=holder)


class SourceLine(NamedTuple):
    """One line; ``asked`` is true if the question names it. The text is untrusted."""

    number: int
    text: str
    asked: bool


class QuotedSource(NamedTuple):
    """The lines to show; if there are none, ``problem`` says why.

    ``above`` are all lines of the file before the first line shown; syntax highlighting needs them.
    """

    file: str
    start: int
    end: int
    lines: tuple[SourceLine, ...]
    problem: str = ""
    above: tuple[str, ...] = ()


def read_source(root: Path, file: str, start: int, end: int) -> QuotedSource:
    """Return lines `start` to `end` (1-based) of a file below `root`, and the lines around them.

    Never raises for the file: `QuotedSource.problem` says why nothing can be shown.
    """
    source = QuotedSource(file=file, start=start, end=end, lines=())
    try:
        text = _read(root, file)
    except FileNotFoundError:
        return source._replace(problem="there is no such file now")
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        return source._replace(problem=f"it cannot be shown: {reason}")
    lines = text.splitlines()
    first, last = max(1, start - AROUND), min(len(lines), end + AROUND, start + MOST_LINES)
    if first > len(lines):
        return source._replace(problem=f"the file has only {counted(len(lines), 'line')} now")
    shown = tuple(
        SourceLine(
            number=number, text=lines[number - 1][:LONGEST_LINE], asked=start <= number <= end
        )
        for number in range(first, last + 1)
    )
    return source._replace(lines=shown, above=tuple(lines[: first - 1]))


def _read(root: Path, file: str) -> str:
    *directories, name = _parts(file)
    here = os.open(root, _STEP | os.O_DIRECTORY)
    try:
        for each in directories:
            inner = os.open(each, _STEP | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = inner
        fd = os.open(name, _STEP, dir_fd=here)
    finally:
        os.close(here)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError("it is not a regular file")
        data = os.read(fd, MOST_BYTES)
    finally:
        os.close(fd)
    if b"\0" in data[:8192]:
        raise ValueError("it is not a text")
    return data.decode("utf-8", "replace")


def _parts(file: str) -> list[str]:
    parts = [part for part in file.split("/") if part not in ("", ".")]
    if file.startswith("/") or not parts or ".." in parts or "\0" in file:
        raise ValueError("it is not inside the project")
    if any(part.lower() == ".git" for part in parts):
        raise ValueError("it belongs to git")
    return parts
