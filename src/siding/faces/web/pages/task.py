"""The page of one task: its state, its steps as a timeline, and the acts on it."""

from collections.abc import Mapping
from typing import Any

from siding.applying.apply import Mode
from siding.faces.web.act_plans import ACTS, ActRequest
from siding.faces.web.act_plans import plan as plan_act
from siding.faces.web.ask import Ask
from siding.faces.web.rendering import Page
from siding.faces.web.stepping import newest
from siding.feed.running import running
from siding.ground.errors import UsageError
from siding.record.recording.freed import freed_record, freed_words
from siding.record.recording.logged import present_line
from siding.record.recording.status import status
from siding.record.recording.steps import Step

SHOWN = 50


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
        "running": [_running(each) for each in reversed(found.in_progress)],
        "live": {each.run for each in running(ask.project, task_id)},
        "total": ask.site.total(task_id, last.snapshot) if last and last.snapshot else None,
        "waiting": [each for each in ask.site.waiting(ask.project) if each.task == task_id],
        "card": dict(found.task.start),
        "workflows": [
            run
            for run in ask.site.workflow_runs.all(ask.project)
            if run.is_live and run.task == task_id
        ],
    }
    return Page("task.html", found.task.name, values, watch=task_id)


def plan(ask: Ask) -> Page:
    """Show what an act would do, before a person carries it out."""
    wish = ActRequest(
        act=ask.choice("act", "rollback", *(each for each in ACTS if each != "rollback")),
        step=ask.query.get("step", ""),
        hard=ask.query.get("hard") == "1",
        force=ask.query.get("force") == "1",
        mode=ask.choice("mode", *(mode.value for mode in Mode)),
        close=ask.query.get("stay") != "1",
        keep=ask.query.get("keep") == "1",
    )
    if len(wish.step) > 20:
        raise UsageError("step must be a step's number, or base")
    task_id = ask.task_id
    values = {
        "plan": plan_act(ask.project, task_id, wish),
        "wish": wish,
        "task_id": task_id,
        "modes": [mode.value for mode in Mode],
    }
    return Page("plan.html", "", values)


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


def tone_of(status_word: str) -> str:
    """Return the tone that a status is shown in: good, bad, warn or live."""
    return {"completed": "good", "failed": "bad", "blocked": "bad", "running": "live"}.get(
        status_word, "warn"
    )


def _running(progress: Any) -> dict[str, Any]:
    running = progress.intent
    return {
        "name": progress.name,
        "kind": running.kind,
        "command": running.title,
        "started_at": running.started_at,
        "cut_off": progress.holder is None,
    }
