"""Find the steps for an address."""

from siding.faces.web.ask import Ask
from siding.ground.errors import NotFound
from siding.record.recording.steps import Step, log, running_step
from siding.record.recording.steps import step as find_step


def newest(ask: Ask, *, before: int, limit: int) -> list[Step]:
    """Return at most `limit` steps before the number `before` (0: all steps), newest first."""
    _task, last = log(ask.project, ask.task_id, limit=1)
    if not last:
        return []
    skip = max(0, last[0].number - before + 1) if before else 0
    _task, found = log(ask.project, ask.task_id, limit=skip + limit)
    kept = [each for each in found if not before or each.number < before]
    return kept[-limit:][::-1] if limit else []


def one_step(ask: Ask) -> Step:
    """Return the step that the path names by its number or its run. Raises NotFound."""
    name = ask.words["step"]
    if len(name) > 10 or not name.removeprefix("r").isdigit():
        raise NotFound(f"there is no step {name!r}")
    running = running_step(ask.project, ask.task_id, name)
    return running[1] if running else find_step(ask.project, ask.task_id, name)[1]
