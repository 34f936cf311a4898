"""How a run of a workflow ended: what is printed, and the exit status."""

from siding.app.workflows.views import RunDone
from siding.cli.screen.screen import Screen, inert
from siding.cli.telling.workflow_lines import result_text

_STATUSES = {"completed": 0, "failed": 1, "killed": 130}


def say_end(screen: Screen, done: RunDone) -> int:
    """Print what the script returned; return the exit status."""
    screen.progress("")
    if done.resume is not None and done.resume.not_reached:
        agents = ", ".join(f"#{number}" for number in done.resume.not_reached)
        screen.warn(f"these agents were chosen and not reached: {agents}")
    if done.status == "completed" and done.value is not None:
        screen.print(inert(result_text(done.value), lines=True))
    return _STATUSES[done.status]
