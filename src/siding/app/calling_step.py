"""Which step a command was started in: what runs inside one is not a person.

The environment says so, and a program can clear that. So the processes above this one are looked at
too: on Linux a run adopts whatever its command leaves behind, so everything that a step started has
the run above it, in whatever session. A program that means to lie can still ask a service outside
of the step to start this one; only a sandbox stops that.
"""

from typing import NamedTuple

from siding.app.project import Project
from siding.errors import SidingError
from siding.ledger.running import Running, read_running
from siding.storage.locks import FileLock


class CallingStep(NamedTuple):
    """A step that is being made. Both are "" for one that is not of this project."""

    task_id: str
    step_id: str

    def __str__(self) -> str:
        return f"{self.task_id}/{self.step_id}" if self.task_id else "of another project"


class InsideStep(SidingError):
    """This is a person's to do, and the command runs inside a step."""

    code = "inside_step"


def calling_steps(project: Project) -> tuple[CallingStep, ...]:
    """Return the steps this process runs in (a step in a step has two), none outside of any."""
    tokens = _tokens(project)
    under_way = _under_way(project)
    if under_way:  # else there is nothing to look for above this process
        from siding.process.tree import ancestors

        above = ancestors()
        under_way = {
            step: running for step, running in under_way.items() if _holds(running, tokens, above)
        }
    if tokens and not under_way:
        return (CallingStep(task_id="", step_id=""),)
    return tuple(under_way)


def _under_way(project: Project) -> dict[CallingStep, Running]:
    """Return the steps that are being made now, in all tasks."""
    found = {}
    for task_id in project.tasks.ids():
        layout = project.task_layout(task_id)
        try:
            running = read_running(layout.running_json)
        except SidingError:
            continue
        # Without the lock it was cut off, and its pid may be another process's by now.
        if running is not None and FileLock(layout.lock).is_locked():
            found[CallingStep(task_id=task_id, step_id=f"{running.number:04d}")] = running
    return found


def refuse_inside_step(project: Project, what: str, *, hint: str) -> None:
    """Raise InsideStep when the caller runs in a step; `what` is a sentence about the act."""
    if calling_steps(project):
        raise InsideStep(f"this command runs inside a task's step, and {what}", hint=hint)


def _tokens(project: Project) -> frozenset[str]:
    text = project.app.env.get("SIDING_STEP_TOKEN", "")
    return frozenset(each for each in text.split(":") if each)


def _holds(running: Running, tokens: frozenset[str], above: frozenset[int]) -> bool:
    return (bool(running.token) and running.token in tokens) or running.pid in above
