"""Which step a command was started in: what runs inside one is not a person.

The environment says so, and a program can clear that. So the processes above this one are looked at
too: on Linux a run adopts whatever its command leaves behind, so everything that a step started has
the run above it, in whatever session. A program that means to lie can still ask a service outside
of the step to start this one; only a sandbox stops that.
"""

from typing import NamedTuple

from siding.app.place.project import Project
from siding.errors import SidingError
from siding.ids import step_id
from siding.ledger.intents import Intent, Intents


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
            step: intent for step, intent in under_way.items() if _holds(intent, tokens, above)
        }
    if tokens and not under_way:
        return (CallingStep(task_id="", step_id=""),)
    return tuple(under_way)


def _under_way(project: Project) -> dict[CallingStep, Intent]:
    """Return the steps that are being made now, in all tasks."""
    found = {}
    for task_id in project.tasks.ids():
        intents = Intents(project.task_layout(task_id))
        try:
            begun = intents.all()
        except SidingError:
            continue
        for intent in begun:
            # Of one that was cut off, the pid may be another process's by now.
            if not intents.is_cut_off(intent):
                found[CallingStep(task_id=task_id, step_id=step_id(intent.number))] = intent
    return found


def refuse_inside_step(project: Project, what: str, *, hint: str) -> None:
    """Raise InsideStep when the caller runs in a step; `what` is a sentence about the act."""
    if calling_steps(project):
        raise InsideStep(f"this command runs inside a task's step, and {what}", hint=hint)


def _tokens(project: Project) -> frozenset[str]:
    text = project.app.env.get("SIDING_STEP_TOKEN", "")
    return frozenset(each for each in text.split(":") if each)


def _holds(intent: Intent, tokens: frozenset[str], above: frozenset[int]) -> bool:
    return (bool(intent.token) and intent.token in tokens) or intent.pid in above
