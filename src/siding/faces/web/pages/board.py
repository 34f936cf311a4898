"""The board: tasks in groups by their state; those that wait for a person come first."""

from typing import Any

from siding.faces.web.ask import Ask
from siding.faces.web.rendering import Page
from siding.feed.overview import BoardGroup, Card, chosen, overview
from siding.tasks.start import default_base

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


def new_task(ask: Ask) -> Page:
    """Show the form that starts a task."""
    return Page("new_task.html", "Start a task", {"base": default_base(ask.project)})
