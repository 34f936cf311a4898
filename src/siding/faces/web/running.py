"""Runs that live: they are listed and ended by the API; pages of tasks and the inbox show them."""

from typing import Any

from siding.asking.answer import CodeNeeded
from siding.faces.web.request import Ask, Fields
from siding.faces.web.text import quoted
from siding.feed.running import RunningRow, running
from siding.ground.errors import NotFound
from siding.running.stop import stop as stop_runs


def listed(ask: Ask) -> dict[str, Any]:
    """Return the runs that live, in all tasks, oldest first."""
    return {"runs": [each._asdict() for each in running(ask.project)]}


def code(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Show the code that stops a run in the terminal."""
    fields.done()
    run = _run(ask)
    ask.site.nonces.ask("stop", _meaning(run), told=_told(run))
    return {"shown": True}


def stop(ask: Ask, fields: Fields) -> dict[str, Any]:
    """End a run with everything it started; this needs a code, or a device's signature."""
    typed = fields.text("code", "", longest=20)
    fields.done()
    run = _run(ask)
    if ask.device is None:
        if not typed:
            raise CodeNeeded(
                "the dashboard's key alone stops no run",
                hint="the page asks for the code that the terminal of `siding ui` shows, or a "
                "paired device signs",
            )
        ask.site.nonces.spend("stop", _meaning(run), typed)
    ended = stop_runs(ask.project, run.task, [run.run])
    if ask.device is not None:
        ask.site.say(f"{ask.device.name}, a paired device, has signed: {_told(run)}")
    steps = [each.step.id for each in ended.runs if each.step is not None]
    return {"run": run.run, "step": next(iter(steps), None)}


def _run(ask: Ask) -> RunningRow:
    """Return the run in the path; raise NotFound if it does not live."""
    wanted = ask.words["run"]
    for each in running(ask.project, ask.task_id):
        if each.run == wanted:
            return each
    raise NotFound(f"no run {wanted[:20]!r} lives in this task")


def _meaning(run: RunningRow) -> dict[str, Any]:
    return {"task": run.task, "run": run.run}


def _told(run: RunningRow) -> str:
    return f"stop {run.run} {quoted(run.command)} of task {run.task} ({run.task_name})"
