"""What the verbs about conversations share: which one is meant, and who says something."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context

if TYPE_CHECKING:
    from siding.chat.conversations import Task
    from siding.chat.store import Chat
    from siding.record.place.project import Project

BY = "terminal"


def add_which(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-c", "--chat", metavar="ID", default="", help="such as c2 (default: the newest)"
    )
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")


def opened(context: Context) -> Project:
    from siding.record.place.project import require_project

    project = require_project(context.app)
    context.screen.use_colour(project.settings.color)
    return project


def found(context: Context, task: str | None, chat: str) -> tuple[Project, Task, Chat]:
    """Return the conversation that is meant. Raises NotFound."""
    from siding.chat.store import Chats
    from siding.record.place.selection import select

    project = opened(context)
    of_task = select(project, task)
    return project, of_task, Chats(project.task_layout(of_task.id)).find(chat)


def workspace_of(project: Project, task: Task) -> str:
    """Return the path of a task's workspace; "" if it has none."""
    workspace = project.registry.of_task(task.id)
    return "" if workspace is None else workspace.path
