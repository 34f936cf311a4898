"""Find what waits for a person, in one project and in all of them."""

from siding.asking.entries import InboxEntry
from siding.feed.inbox import waiting, waiting_in
from siding.feed.overview import Waiting
from siding.record.place.project import Project


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
