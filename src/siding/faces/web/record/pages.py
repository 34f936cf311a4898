"""The pages of what was recorded: a step, the changes of a task, events."""

import re
from typing import Any, assert_never

from siding.faces.web.record.output import WINDOW, _streams
from siding.faces.web.record.patches import _base, parts_of_step, patch_of
from siding.faces.web.rendering import Page
from siding.faces.web.request import Ask, newest, one_step
from siding.faces.web.text import inert, tone_of
from siding.feed.board import show
from siding.ground.ids import run_or_step
from siding.record.recording.freed import freed_at, freed_note, marked, patch_note
from siding.record.recording.last_screen import last_screen
from siding.record.recording.outputs import Output
from siding.record.recording.outputs import output as output_of
from siding.record.recording.step_details import quote_path
from siding.record.recording.steps import (
    ApplyRedoStep,
    ApplyStep,
    ApplyUndoStep,
    CheckpointStep,
    ForeignStep,
    MergeStep,
    PhaseStep,
    RedoStep,
    RollbackStep,
    RunStep,
    Step,
    TurnStep,
    UndoStep,
    running_step,
)

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,63}")  # of a conversation
EVENTS_SHOWN = 100
MOST_STEPS = 500


def step(ask: Ask) -> Page:
    """Show a step, recorded or running."""
    found = one_step(ask)
    task = show(ask.project, ask.task_id)[0]
    kept = output_of(ask.project, task, found)
    is_running = running_step(ask.project, task.id, ask.words["step"]) is not None
    values = {
        "task": task,
        "step": found,
        "kind": found.kind_shown,
        **_of_kind(found),
        "tone": tone_of(found.status),
        "is_running": is_running,
        "screen": None if kept is None else _screen(found, kept),
        "streams": _streams(kept, is_running=is_running),
        "lacks": _lacks(found),
        "freed": freed_note(ask.project, task.id, found),
        "is_gone": freed_at(ask.project, found.snapshot) is not None,
        "patch_freed": patch_note(ask.project, task.id, found),
        "patch": None if is_running else parts_of_step(ask, found),
        "window": WINDOW,
    }
    name = found.run if is_running and found.run else found.id
    title = f"{run_or_step(name).capitalize()} · {task.name}"
    return Page("step.html", title, values, watch=task.id if is_running else "")


def _of_kind(found: Step) -> dict[str, Any]:
    """Return what the page shows of a step of this kind only."""
    match found:
        case RunStep(detail=run):
            session = "" if run.reported is None else run.reported.session
            more = {"where": run.cwd, "notes": run.notes, "env": run.env}
            return {**more, "session": _harmless(session)}
        case TurnStep(detail=turn) | CheckpointStep(detail=turn):
            return {"session": _harmless(turn.session), "session_step": found.number}
        case ApplyStep(detail=moved) | ApplyUndoStep(detail=moved) | ApplyRedoStep(detail=moved):
            return {"onto": moved.target_branch}
        case RollbackStep() | UndoStep() | RedoStep() | MergeStep():
            return {}
        case PhaseStep() | ForeignStep():
            return {}
        case _:
            assert_never(found)


def _harmless(session: str) -> str:
    """Return the id of a conversation, "" if it is not harmless in an address.

    An agent may have reported any text.
    """
    return session if _ID.fullmatch(session) else ""


def _screen(found: Step, kept: Output) -> str | None:
    """Return the last screen of a program that draws on its terminal; None for lines."""
    drawn = last_screen(found, kept)
    return None if drawn is None else inert("\n".join(drawn.lines))


def _lacks(found: Step) -> list[tuple[str, str]]:
    """Return what the step's snapshot lacks, as (path or count, reason) pairs."""
    coverage = found.coverage
    if coverage is None or coverage.complete:
        return []
    lacks = [(quote_path(each.path), each.reason) for each in coverage.skipped]
    for paths, why in (
        (coverage.nested, "a nested repository: its files are recorded, its history is not"),
        (coverage.unstable, "it changed while it was read; a mixed state may be recorded"),
        (coverage.foreign, "another user owns it, and only that user may set its permissions"),
        (coverage.special, "a pipe, socket or device"),
    ):
        lacks += [(quote_path(path), why) for path in paths]
    if coverage.sparse:
        lacks.append((f"{coverage.sparse} paths", "kept off the disk by a sparse checkout"))
    return lacks or [("something", "its record does not say what")]


def changes(ask: Ask) -> Page:
    """Show the whole change of a task since its base, as one patch."""
    task = show(ask.project, ask.task_id)[0]
    values = {"task": task, "patch": patch_of(ask), "base": _base(ask)}
    return Page("changes.html", f"Changes of {task.name}", values, watch="")


def events(ask: Ask) -> Page:
    """Show the newest events of the project, newest first."""
    limit = ask.number("shown", EVENTS_SHOWN, most=10_000)
    events = ask.project.events.newest(limit + 1)[::-1]
    names: dict[str, str] = {task.id: task.name for task in ask.project.tasks.readable()}
    rows = [
        {
            "event": str(each.get("event", "")),
            "at": str(each.get("at", "")),
            "error": str(each.get("error", "")),
            "task": _id(each.get("task")),
            "name": names.get(_id(each.get("task")), ""),
            "rest": {
                key: value
                for key, value in each.items()
                if key not in ("v", "event", "ts", "at", "task", "error") and value
            },
        }
        for each in events[:limit]
    ]
    values = {"rows": rows, "more": len(events) > limit, "next": limit * 3}
    return Page("events.html", "Events", values)


def _id(task: object) -> str:
    return str(task.get("id", "")) if isinstance(task, dict) else ""


def steps_json(ask: Ask) -> dict[str, Any]:
    """Return a task's steps, newest first, at most MOST_STEPS."""
    before = ask.number("before", 0)
    limit = min(MOST_STEPS, ask.number("limit", 50))
    return {"steps": marked(ask.project, ask.task_id, newest(ask, before=before, limit=limit))}


def step_json(ask: Ask) -> dict[str, Any]:
    """Return one step as its ledger line."""
    return marked(ask.project, ask.task_id, [one_step(ask)])[0]


def events_json(ask: Ask) -> dict[str, Any]:
    """Return the newest events, newest first, at most 1000."""
    limit = min(1000, ask.number("limit", 100))
    return {"events": [dict(each) for each in ask.project.events.newest(limit)[::-1]]}
