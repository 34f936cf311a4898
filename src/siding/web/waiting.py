"""Find what waits for a person, in one project and in all of them."""

from siding.app.place.project import Project
from siding.app.waiting.entries import InboxEntry
from siding.app.waiting.inbox import waiting, waiting_in
from siding.app.waiting.overview import Waiting


def waiting_of(project: Project) -> list[Waiting]:
    """Return what waits in tasks of this project, and questions without a task."""
    return [
        Waiting(
            task=each.task_id,
            what=each.title,
            path=each.page,
            about=each.detail,
            since=each.since,
        )
        for each in waiting_in(project).entries
        if each.task_id or each.session_id
    ]


def everything_waiting(project: Project) -> tuple[list[InboxEntry], list[str]]:
    """Return what waits in every project of the home, and sentences about unreadable ones."""
    found = waiting(project.app)
    return list(found.entries), list(found.problems)
