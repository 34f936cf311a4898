"""Operations of the API that read. Each returns the JSON object of its answer."""

from typing import Any

from siding.faces.web.ask import Ask
from siding.faces.web.patches import parts_of_step
from siding.faces.web.stepping import newest, one_step
from siding.feed.overview import overview
from siding.feed.tasks import show
from siding.ground.errors import NotFound
from siding.record.recording.freed import marked, refuse_freed_patch
from siding.record.recording.outputs import output as output_of
from siding.sessions.sessions import as_row
from siding.sessions.sessions import rows as session_rows
from siding.tasks.gc import gc

MOST_STEPS = 500
MOST_BYTES = 256 * 1024
_DEFAULT_BYTES = 64 * 1024


def project(ask: Ask) -> dict[str, Any]:
    """Return the project's name, root and active task."""
    return {
        "name": ask.project.paths.name,
        "root": str(ask.project.paths.root),
        "active_task": ask.project.active_task_id(),
    }


def tasks(ask: Ask) -> dict[str, Any]:
    """Return the tasks of the board, and the open questions on none of them."""
    found = overview(ask.project, ask.site.waiting(ask.project))
    return {
        "tasks": [{**card.row._asdict(), "group": card.group.value} for card in found.cards],
        "questions": [each._asdict() for each in found.loose],
        "unreadable": list(found.unreadable),
    }


def task(ask: Ask) -> dict[str, Any]:
    """Return one task and the path of its workspace."""
    found, workspace = show(ask.project, ask.task_id)
    return {
        **found._asdict(),
        "rest": None,
        "workspace": None if workspace is None else workspace.path,
    }


def steps(ask: Ask) -> dict[str, Any]:
    """Return a task's steps, newest first, at most MOST_STEPS."""
    before = ask.number("before", 0)
    limit = min(MOST_STEPS, ask.number("limit", 50))
    return {"steps": marked(ask.project, ask.task_id, newest(ask, before=before, limit=limit))}


def step(ask: Ask) -> dict[str, Any]:
    """Return one step as its ledger line."""
    return marked(ask.project, ask.task_id, [one_step(ask)])[0]


def output(ask: Ask) -> dict[str, Any]:
    """Return a window of a step's output as text, at most MOST_BYTES."""
    found = output_of(ask.project, show(ask.project, ask.task_id)[0], one_step(ask))
    if found is None:
        raise NotFound("no output of the step was recorded")
    span = found.stdout if ask.choice("stream", "stdout", "stderr") == "stdout" else found.stderr
    start = min(ask.number("at", 0), span.size)
    data = span.read(start, min(MOST_BYTES, ask.number("size", _DEFAULT_BYTES)))
    return {
        "start": start,
        "end": start + len(data),
        "size": span.size,
        "text": data.decode("utf-8", "backslashreplace"),
    }


def files(ask: Ask) -> dict[str, Any]:
    """Return the files of a step's patch."""
    step = one_step(ask)
    found = parts_of_step(ask, step)
    if found is None:
        refuse_freed_patch(ask.project, ask.task_id, step)
    return {
        "files": [
            {
                "name": part.name,
                "old_name": part.old_name,
                "status": part.status,
                "binary": part.is_binary,
                "additions": part.additions,
                "deletions": part.deletions,
            }
            for part in (found.parts if found else ())
        ]
    }


def events(ask: Ask) -> dict[str, Any]:
    """Return the newest events, newest first, at most 1000."""
    limit = min(1000, ask.number("limit", 100))
    return {"events": [dict(each) for each in ask.project.events.newest(limit)[::-1]]}


def disk(ask: Ask) -> dict[str, Any]:
    """Return the bytes that tasks use on disk."""
    report = gc(ask.project, budget=None, dry_run=True)
    return {
        "tasks": [{**use._asdict(), "total": use.total} for use in report.uses],
        "store": report.store,
        "unmeasured": [each._asdict() for each in report.unmeasured],
    }


def sessions(ask: Ask) -> dict[str, Any]:
    """Return the conversations of the project."""
    return {"sessions": [as_row(row) for row in session_rows(ask.project)]}
