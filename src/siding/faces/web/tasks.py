"""Tasks on the page: one, a new one, what all use on disk."""

from collections.abc import Mapping
from typing import Any

from siding.faces.web.rendering import Page
from siding.faces.web.request import Ask, Fields, newest
from siding.faces.web.text import tone_of
from siding.feed.board import show
from siding.feed.overview import chats_of
from siding.feed.running import running
from siding.record.recording.freed import freed_record, freed_words
from siding.record.recording.logged import present_line
from siding.record.recording.status import status
from siding.record.recording.steps import Step
from siding.tasks.changes import switch as switch_task
from siding.tasks.gc import TaskUse, gc
from siding.tasks.start import StartRequest, default_base
from siding.tasks.start import start as start_task

SHOWN = 50
_PARTS = ("workspace", "snapshots", "artifacts", "trash", "archive")
USES_SHOWN = 60


def task(ask: Ask) -> Page:
    """Show a task and its steps, newest first."""
    task_id = ask.task_id
    found = status(ask.project, task_id)
    limit = ask.number("shown", SHOWN, most=100_000)
    steps = newest(ask, before=0, limit=limit)
    left = present_line(reversed(steps)).left_behind
    freed = freed_record(ask.project).of_task(task_id)
    last = found.last
    values = {
        "task": found.task,
        "found": found,
        "workspace": found.workspace,
        "is_active": ask.project.active_task_id() == task_id,
        "is_closed": found.task.status.value == "closed",
        "steps": [_entry(each, left_behind=each.number in left, freed=freed) for each in steps],
        "more": max(0, found.steps - len(steps)),
        "next": limit + 200,
        "running": [_in_progress(each) for each in reversed(found.in_progress)],
        "live": {each.run for each in running(ask.project, task_id)},
        "total": ask.site.total(task_id, last.snapshot) if last and last.snapshot else None,
        "waiting": [each.entry for each in ask.site.asks_of_task(ask.project, task_id)],
        "chats": chats_of(ask.project, task_id, ask.site.feed()),
        "card": dict(found.task.start),
        "workflows": [
            run
            for run in ask.site.workflow_runs.all(ask.project)
            if run.is_live and run.task == task_id
        ],
    }
    return Page("task.html", found.task.name, values, watch=task_id)


def _entry(step: Step, *, left_behind: bool, freed: Mapping[str, str]) -> dict[str, Any]:
    checkpoint, at = step.as_checkpoint, freed.get(step.snapshot or "")
    return {
        "step": step,
        "kind": step.kind_shown,
        "agent": step.agent,
        "policy": step.policy_events,
        "tone": tone_of(step.status),
        "origin": checkpoint.origin if checkpoint else "",
        "left_behind": left_behind,
        "freed": freed_words(at) if at else "",
    }


def _in_progress(progress: Any) -> dict[str, Any]:
    running = progress.intent
    return {
        "name": progress.name,
        "kind": running.kind,
        "command": running.title,
        "started_at": running.started_at,
        "cut_off": progress.holder is None,
    }


def disk(ask: Ask) -> Page:
    """Show the bytes of every task, the largest first, and the bytes `siding gc` would free."""
    report = gc(ask.project, budget=None, dry_run=True)
    uses = sorted(report.uses, key=lambda each: each.total, reverse=True)
    most = max([each.total for each in uses], default=0) or 1
    values = {
        "rows": [{"use": each, "bars": _bars(each, most)} for each in uses[:USES_SHOWN]],
        "hidden": uses[USES_SHOWN:],
        "store": report.store,
        "total": sum(each.total for each in uses),
        "parts": [(part, sum(getattr(each, part) for each in uses)) for part in _PARTS],
        "freeable": sum(each.trash for each in report.chosen),
        "chosen": len(report.chosen),
        "unmeasured": report.unmeasured,
    }
    return Page("disk.html", "Disk use", values)


def _bars(use: TaskUse, most: int) -> list[tuple[str, float, float]]:
    """Return the parts of a bar as (name, start, width), in percent of the longest bar."""
    bars = []
    at = 0.0
    for part in _PARTS:
        width = 100 * getattr(use, part) / most
        if width:
            bars.append((part, round(at, 2), round(width, 2)))
        at += width
    return bars


def start(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Start a task."""
    request = StartRequest(
        name=fields.text("name", longest=200),
        base=fields.text("base", "", longest=255) or None,
        description=fields.text("description", "") or None,
        workspace=not fields.flag("plan_only"),
        switch=fields.flag("switch"),
    )
    fields.done()
    task = start_task(ask.project, request).task
    return _task_json(task.id, task.name, task.status.value, task.branch)


def switch(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Make a task the active one."""
    fields.done()
    task = switch_task(ask.project, ask.task_id).task
    return _task_json(task.id, task.name, task.status.value, task.branch)


def _task_json(task_id: str, name: str, status: str, branch: str) -> dict[str, Any]:
    return {"id": task_id, "name": name, "status": status, "branch": branch}


def new_task(ask: Ask) -> Page:
    """Show the form that starts a task."""
    return Page("new_task.html", "Start a task", {"base": default_base(ask.project)})


def task_json(ask: Ask) -> dict[str, Any]:
    """Return one task and the path of its workspace."""
    found, workspace = show(ask.project, ask.task_id)
    return {
        **found._asdict(),
        "rest": None,
        "workspace": None if workspace is None else workspace.path,
    }


def disk_json(ask: Ask) -> dict[str, Any]:
    """Return the bytes that tasks use on disk."""
    report = gc(ask.project, budget=None, dry_run=True)
    return {
        "tasks": [{**use._asdict(), "total": use.total} for use in report.uses],
        "store": report.store,
        "unmeasured": [each._asdict() for each in report.unmeasured],
    }
