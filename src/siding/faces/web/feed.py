"""The board, and the inbox: what waits for a person and what runs, as the feed has it.

On the board tasks are in groups by their state; those that wait for a person come first.
"""

from typing import Any

from siding.asking.notices import ENDED
from siding.asking.notifications import wishes
from siding.asking.told import Told
from siding.faces.web.rendering import Page
from siding.faces.web.request import Ask, Fields
from siding.feed.model import State
from siding.feed.overview import Card, chosen, overview
from siding.feed.running import running
from siding.ground.errors import NotFound

SHOWN = 40  # tasks of a group above "show more"
_TITLES = {
    State.WAITS: ("Waits for you", "a question, a permission or a conflict"),
    State.BROKE: ("Broke", "it failed, was blocked or cut off"),
    State.READY: ("Ready to apply", "it changed something, and nothing is open"),
    State.RUNS: ("Runs", "a run lives, or a workflow works in it"),
    State.RESTS: ("Rests", "there is nothing to apply"),
    State.DONE: ("Done", "applied, or put away"),
}
# What the API has called the groups of the board since before there were states.
_GROUPS = {
    State.WAITS: "waiting",
    State.BROKE: "waiting",
    State.READY: "open",
    State.RUNS: "running",
    State.RESTS: "open",
    State.DONE: "closed",
}


def board(ask: Ask) -> Page:
    """Show all tasks of the project."""
    found = overview(ask.project, ask.site.feed())
    groups = []
    for group, (title, about) in _TITLES.items():
        cards = found.group(group)
        default = 0 if group is State.DONE else SHOWN
        shown = ask.number(group.value, default, most=100_000)
        groups.append(
            {
                "name": group.value,
                "title": title,
                "about": about,
                "count": len(cards) + (len(found.loose) if group is State.WAITS else 0),
                "loose": [each.entry for each in found.loose] if group is State.WAITS else [],
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
        "command": card.doing,
    }


def totals(ask: Ask) -> Page:
    """Show the change of some tasks since their base.

    Counting takes git's time, so the board fetches this after it is shown, for its tasks only.
    """
    wanted = ask.query.get("tasks", "").split(",")[:200]
    found = overview(ask.project, ask.site.feed())
    rows = [card.row for card in chosen(found.cards, wanted)]
    values = {"totals": [(row, ask.site.total(row.id, row.last_snapshot)) for row in rows]}
    return Page("totals.html", "", values)


def inbox(ask: Ask) -> Page:
    """Show what waits for a person, in every project of the home, and what runs in this one."""
    feed = ask.site.feed()
    entries = [each.entry for each in feed.asks]
    here = str(ask.project.layout.root)
    values = {
        "here": [each for each in entries if str(each.project_dir) == here],
        "elsewhere": [each for each in entries if str(each.project_dir) != here],
        "runs": running(ask.project),
        "workflows": [run for run in ask.site.workflow_runs.all(ask.project) if run.is_live],
        "problems": feed.problems,
    }
    return Page("inbox.html", "Inbox", values)


def inbox_json(ask: Ask) -> dict[str, Any]:
    """Return what waits for a person, in every project, and how the person wants to be called.

    What has ended is told `after_s` seconds later.
    """
    feed = ask.site.feed()
    quiet, after_s = wishes(ask.project)
    ended = {each.value for each in ENDED}
    return {
        "entries": [{**each.as_record(), "ended": each.entry.kind in ended} for each in feed.asks],
        "problems": list(feed.problems),
        "quiet": quiet,
        "after_s": after_s,
    }


def told(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Take it on to tell the person of something that waits; `first` is false if others did."""
    waits = fields.text("id", longest=2000)
    fields.done()
    if all(each.id != waits for each in ask.site.feed().asks):
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
    found = overview(ask.project, ask.site.feed())
    return {
        "tasks": [_record(card) for card in found.cards],
        "questions": [
            {
                "task": each.entry.task_id,
                "what": each.entry.title,
                "path": each.entry.page,
                "about": each.entry.detail,
                "since": each.entry.since,
                "address": each.address,
            }
            for each in found.loose
        ],
        "unreadable": list(found.unreadable),
    }


def _record(card: Card) -> dict[str, Any]:
    return {
        **card.row._asdict(),
        "group": "planned" if card.is_planned else _GROUPS[card.state],
        "state": card.state.value,
        "address": card.shown.address if card.shown else "",
    }
