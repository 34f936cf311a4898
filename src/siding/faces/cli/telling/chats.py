"""The lines of the status about the conversations of a task."""

from typing import TYPE_CHECKING

from siding.faces.cli.screen.screen import shorten
from siding.faces.cli.screen.words import ago
from siding.feed.task_rows import chat_rows
from siding.ground.errors import counted

if TYPE_CHECKING:
    from siding.ground.ids import TaskId
    from siding.record.place.project import Project


def chat_lines(project: "Project", task: "TaskId") -> list[tuple[str, str]]:
    """Return a line for each conversation that has a row."""
    lines = []
    for row in chat_rows(project, task):
        more = f", {counted(row.queued, 'prompt')} after it" if row.queued else ""
        what = f"{row.id} with {row.agent} {row.state}, {ago(row.since)}: {shorten(row.what, 60)}"
        lines.append(("chat", f"{what}{more}; `siding chat show -c {row.id}` shows it"))
    return lines
