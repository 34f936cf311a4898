"""The page of disk use."""

from siding.faces.web.ask import Ask
from siding.faces.web.rendering import Page
from siding.tasks.gc import TaskUse, gc

_PARTS = ("workspace", "snapshots", "artifacts", "trash", "archive")
SHOWN = 60


def use(ask: Ask) -> Page:
    """Show the bytes of every task, the largest first, and the bytes `siding gc` would free."""
    report = gc(ask.project, budget=None, dry_run=True)
    uses = sorted(report.uses, key=lambda each: each.total, reverse=True)
    most = max([each.total for each in uses], default=0) or 1
    values = {
        "rows": [{"use": each, "bars": _bars(each, most)} for each in uses[:SHOWN]],
        "hidden": uses[SHOWN:],
        "store": report.store,
        "total": sum(each.total for each in uses),
        "parts": [(part, sum(getattr(each, part) for each in uses)) for part in _PARTS],
        "freeable": sum(each.trash for each in report.chosen),
        "chosen": len(report.chosen),
        "unmeasured": report.unmeasured,
    }
    return Page("disk.html", "Disk use", values)


def _bars(use: TaskUse, most: int) -> list[tuple[str, float, float]]:
    """Return the parts of a bar as (name, start, width), in percent of the longest bar."""
    bars = []
    at = 0.0
    for part in _PARTS:
        width = 100 * getattr(use, part) / most
        if width:
            bars.append((part, round(at, 2), round(width, 2)))
        at += width
    return bars
