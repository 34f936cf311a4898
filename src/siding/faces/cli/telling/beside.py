"""End the runs that live before an act moves the files under them, and say which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.words import TITLE_COLUMNS, task_name
from siding.ground.ids import TaskId
from siding.record.place.project import Project

if TYPE_CHECKING:
    from siding.running.named_run import Task
    from siding.running.stop import Ended, EndedLeft

NAMED_COLUMNS = 200


def stop_first(screen: Screen, project: Project, task_id: TaskId) -> None:
    """End the workflows and the runs of the task, and say which."""
    from siding.record.unfinished.live_workflows import live_workflows
    from siding.running.stop import stop_before

    if any(live_workflows(project, task_id)):
        from siding.workflows.acts.control import end_workflows  # the engine: few commands need it

        for each in end_workflows(project, task_id):
            screen.note(f"ended the workflow {inert(each.name)} ({each.run_id})")
    tell_stopped(screen, stop_before(project, task_id))


def tell_stopped(screen: Screen, stopped: Ended) -> None:
    """Say which runs were ended, and what ended runs had left running."""
    for each in stopped.runs:
        step = "not recorded" if each.step is None else f"step {each.step.id}"
        force = " · its host did not react and was killed" if each.by_force else ""
        what = shorten(inert(each.run.title), TITLE_COLUMNS)
        screen.note(f"{task_name(each.task.name)} · ended {each.run.id} ({what}) · {step}{force}")

    for left in stopped.left:
        _tell_ended_left(screen, left)


def _tell_ended_left(screen: Screen, left: EndedLeft) -> None:
    name, run = task_name(left.task.name), left.run.id
    if left.ended:
        named = shorten(inert(", ".join(each.named for each in left.ended)), NAMED_COLUMNS)
        screen.note(f"{name} · ended what {run} had left running: {named}")
    for process in left.stays:
        screen.warn(f"{process.named}, which {run} left running, could not be ended")


def say_left(screen: Screen, project: Project, task: Task, run_id: str) -> None:
    """Say what a run that has ended left running, if anything of it lives."""
    from siding.running.named_run import left_words, what_was_left

    left = what_was_left(project, task, run_id)
    if left is not None:
        named = shorten(inert(left_words(left)), NAMED_COLUMNS)
        screen.note(f"{task_name(task.name)} · {run_id} has ended, and left running: {named}")
        screen.note(f"  siding stop {run_id} ends it", "dim")


def await_turns_in(project: Project, task_id: TaskId) -> bool:
    """Wait for the turns of a task's conversations, the ends of whose runs nobody knows; tell
    whether no other run lives.
    """
    if not project.task_layout(task_id).chats_dir.is_dir():
        return False
    from siding.chat.held_runs import await_turns

    return await_turns(project, task_id)
