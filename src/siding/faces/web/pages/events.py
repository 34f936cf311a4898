"""The page of events."""

from siding.faces.web.ask import Ask
from siding.faces.web.rendering import Page

SHOWN = 100


def newest(ask: Ask) -> Page:
    """Show the newest events of the project, newest first."""
    limit = ask.number("shown", SHOWN, most=10_000)
    events = ask.project.events.newest(limit + 1)[::-1]
    names: dict[str, str] = {task.id: task.name for task in ask.project.tasks.readable()}
    rows = [
        {
            "event": str(each.get("event", "")),
            "at": str(each.get("at", "")),
            "error": str(each.get("error", "")),
            "task": _id(each.get("task")),
            "name": names.get(_id(each.get("task")), ""),
            "rest": {
                key: value
                for key, value in each.items()
                if key not in ("v", "event", "ts", "at", "task", "error") and value
            },
        }
        for each in events[:limit]
    ]
    values = {"rows": rows, "more": len(events) > limit, "next": limit * 3}
    return Page("events.html", "Events", values)


def _id(task: object) -> str:
    return str(task.get("id", "")) if isinstance(task, dict) else ""
