"""The board, and the inbox: what waits for a person and what runs.

On the board tasks are in groups by their state; those that wait for a person come first.
"""

from typing import Any

from siding.asking.notices import ENDED
from siding.asking.notifications import wishes
from siding.asking.told import Told
from siding.asking.views import InboxEntry, identity
from siding.faces.web.rendering import Page
from siding.faces.web.request import Ask, Fields
from siding.feed.inbox import waiting
from siding.feed.overview import BoardGroup, Card, chosen, overview
from siding.feed.running import running
from siding.ground.errors import NotFound
from siding.record.place.project import Project

SHOWN = 40  # tasks of a group above "show more"
_TITLES = {
    BoardGroup.WAITING: ("Waiting for you", "a decision, a conflict or a failed step"),
    BoardGroup.RUNNING: ("Running", "a step is in progress"),
    BoardGroup.OPEN: ("Open", "nothing runs in them"),
    BoardGroup.PLANNED: ("Planned", "no workspace yet"),
    BoardGroup.CLOSED: ("Closed", "applied, or put away"),
}


def board(ask: Ask) -> Page:
    """Show all tasks of the project."""
    found = overview(ask.project, ask.site.waiting(ask.project))
    groups = []
    for group, (title, about) in _TITLES.items():
        cards = found.group(group)
        default = 0 if group is BoardGroup.CLOSED else SHOWN
        shown = ask.number(group.value, default, most=100_000)
        groups.append(
            {
                "name": group.value,
                "title": title,
                "about": about,
                "count": len(cards) + (len(found.loose) if group is BoardGroup.WAITING else 0),
                "loose": found.loose if group is BoardGroup.WAITING else [],
                "cards": [_shown(ask, card) for card in cards[:shown]],
                "more": max(0, len(cards) - shown),
                "next": shown + (SHOWN if shown else 20),
            }
        )
    values = {
        "groups": groups,
        "unreadable": found.unreadable,
        "project_name": ask.project.paths.name,
        "root": str(ask.project.paths.root),
        "is_empty": not (found.cards or found.loose),
    }
    return Page("board.html", "Board", values)


def _shown(ask: Ask, card: Card) -> dict[str, Any]:
    row = card.row
    return {
        "card": card,
        "row": row,
        "total": ask.site.known_total(row.id, row.last_snapshot),
        "command": card.running.title if card.running else "",
    }


def totals(ask: Ask) -> Page:
    """Show the change of some tasks since their base.

    Counting takes git's time, so the board fetches this after it is shown, for its tasks only.
    """
    wanted = ask.query.get("tasks", "").split(",")[:200]
    found = overview(ask.project)
    rows = [card.row for card in chosen(found.cards, wanted)]
    values = {"totals": [(row, ask.site.total(row.id, row.last_snapshot)) for row in rows]}
    return Page("totals.html", "", values)


def everything_waiting(project: Project) -> tuple[list[InboxEntry], list[str]]:
    """Return what waits in every project of the home, and sentences about unreadable ones."""
    found = waiting(project.app)
    return list(found.entries), list(found.problems)


def inbox(ask: Ask) -> Page:
    """Show what waits for a person, in every project of the home, and what runs in this one."""
    entries, problems = everything_waiting(ask.project)
    here = str(ask.project.layout.root)
    values = {
        "here": [each for each in entries if str(each.project_dir) == here],
        "elsewhere": [each for each in entries if str(each.project_dir) != here],
        "runs": running(ask.project),
        "workflows": [run for run in ask.site.workflow_runs.all(ask.project) if run.is_live],
        "problems": problems,
    }
    return Page("inbox.html", "Inbox", values)


def inbox_json(ask: Ask) -> dict[str, Any]:
    """Return what waits for a person, in every project, and how the person wants to be called.

    What has ended is told `after_s` seconds later.
    """
    entries, problems = everything_waiting(ask.project)
    quiet, after_s = wishes(ask.project)
    ended = {each.value for each in ENDED}
    return {
        "entries": [
            {**each._asdict(), "id": identity(each), "ended": each.kind in ended}
            for each in entries
        ],
        "problems": list(problems),
        "quiet": quiet,
        "after_s": after_s,
    }


def told(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Take it on to tell the person of something that waits; `first` is false if others did."""
    waits = fields.text("id", longest=2000)
    fields.done()
    entries, _problems = everything_waiting(ask.project)
    if all(identity(each) != waits for each in entries):
        raise NotFound("this waits no more")
    app = ask.project.app
    return {"first": Told(app.home, app.env).is_first(waits)}


def project_json(ask: Ask) -> dict[str, Any]:
    """Return the project's name, root and active task."""
    return {
        "name": ask.project.paths.name,
        "root": str(ask.project.paths.root),
        "active_task": ask.project.active_task_id(),
    }


def tasks_json(ask: Ask) -> dict[str, Any]:
    """Return the tasks of the board, and the open questions on none of them."""
    found = overview(ask.project, ask.site.waiting(ask.project))
    return {
        "tasks": [{**card.row._asdict(), "group": card.group.value} for card in found.cards],
        "questions": [each._asdict() for each in found.loose],
        "unreadable": list(found.unreadable),
    }
