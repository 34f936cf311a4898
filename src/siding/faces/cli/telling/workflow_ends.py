"""How a run of a workflow ended: what is printed, and the exit status."""

from collections.abc import Mapping

from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.telling.workflow_lines import result_text
from siding.workflows.acts.views import RunDone

_STATUSES = {"completed": 0, "failed": 1, "killed": 130}
_EXIT = "exit"  # the key of a result that says with which status the command ends
_MOST = 125  # shells have meanings of their own for what is above


def say_end(screen: Screen, done: RunDone) -> int:
    """Print what the script returned; return the exit status."""
    screen.progress("")
    if done.resume is not None and done.resume.not_reached:
        agents = ", ".join(f"#{number}" for number in done.resume.not_reached)
        screen.warn(f"these agents were chosen and not reached: {agents}")
    if done.status == "completed" and done.value is not None:
        screen.print(inert(result_text(done.value), lines=True))
    return status_of(done)


def status_of(done: RunDone) -> int:
    """Return the exit status: red is not 0, though the script came to its end."""
    if done.status == "completed" and isinstance(done.value, Mapping):
        status = done.value.get(_EXIT)
        if isinstance(status, int) and not isinstance(status, bool):
            return min(abs(status), _MOST)
    return _STATUSES[done.status]
