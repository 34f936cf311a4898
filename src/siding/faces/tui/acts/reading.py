"""Read for the pane of home what a row is at: its prompt and its last lines. In a thread."""

import re

from siding.chat.held_runs import HeldRuns
from siding.faces.tui.acts.tasks import project_of_row
from siding.feed.model import Row, RowKind
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.wiring import App
from siding.record.recording.step_details import find_run, output
from siding.running.attach import screen_lines
from siding.undo.rewind import prompts

_TAIL = 8192  # bytes
_LINES = 12
_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)", re.DOTALL)


class Peek(NamedTuple):
    """What was read of a row; "" and () where there is nothing. An agent may have written it."""

    key: str
    prompt: str = ""
    last_lines: tuple[str, ...] = ()
    problem: str = ""


def peek_at(app: App, row: Row) -> Peek:
    """Return what a row is at. What cannot be read is said in `problem`."""
    if row.kind not in (RowKind.TASK, RowKind.CHAT):
        return Peek(row.key)
    try:
        project = project_of_row(app, row)
        if row.kind is RowKind.CHAT:
            words = HeldRuns(project).last_words(TaskId(row.parent.rpartition("/")[2]), row.id)
            return Peek(row.key, row.title, tuple(words[-_LINES:]))
        found = prompts(project, row.id).all
        prompt = found[-1].title if found else ""
        return Peek(row.key, prompt, _last_lines(project, row))
    except (SidingError, OSError) as error:
        return Peek(row.key, problem=getattr(error, "message", str(error)))


def next_command(app: App, row: Row) -> tuple[str, ...]:
    """Return the command that goes on with the newest conversation of a task; () if unknown."""
    if row.kind is not RowKind.TASK:
        return ()
    found = prompts(project_of_row(app, row), row.id).all
    return found[-1].again if found else ()


def _last_lines(project: Project, row: Row) -> tuple[str, ...]:
    if not row.steps and not row.run:
        return ()
    held = HeldRuns(project)
    if row.run and (chat := held.chat_of(TaskId(row.id), row.run)):
        return tuple(held.last_words(TaskId(row.id), chat)[-_LINES:])
    task, step = find_run(project, row.id, row.run or "last")
    kept = output(project, task, step)
    if kept is None:
        return ()
    drawn = screen_lines(project, task, step, kept)
    if drawn is not None:
        return tuple(line for line in drawn if line.strip())[-_LINES:]
    data = kept.stdout.tail(_TAIL) or kept.stderr.tail(_TAIL)
    lines = re.split(r"[\r\n]+", _SEQUENCE.sub(b"", data).decode("utf-8", "replace"))
    return tuple(line for line in lines if line.strip())[-_LINES:]
