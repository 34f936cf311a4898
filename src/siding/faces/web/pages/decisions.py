"""The pages of decisions, the inbox and phases."""

from typing import Any

from siding.asking.lookup import get, list_decisions, source_of
from siding.asking.source import LONGEST_LINE, QuotedSource
from siding.asking.views import DecisionView, ItemView
from siding.faces.web.ask import Ask
from siding.faces.web.markdown import markdown
from siding.faces.web.rendering import Page, escaped
from siding.faces.web.syntax import coloured
from siding.faces.web.waiting import everything_waiting
from siding.feed.running import running
from siding.phases.phases import list_phases

SHOWN = 50


def listed(ask: Ask) -> Page:
    """Show open decisions, oldest first, then closed ones, newest first."""
    limit = ask.number("shown", SHOWN, most=10_000)
    found, problems = list_decisions(ask.project, closed=True)
    closed = [each for each in found if each.state != "open"][::-1]
    values = {
        "open": [each for each in found if each.state == "open"],
        "closed": closed[:limit],
        "more": max(0, len(closed) - limit),
        "next": limit * 3,
        "problems": problems,
    }
    return Page("decisions.html", "Decisions", values)


def one(ask: Ask) -> Page:
    """Show one decision: a form to answer it, or what was recorded."""
    found = get(ask.project, ask.words["decision"])
    values = {
        "decision": found,
        "items": [_item(ask, found, each) for each in found.items],
        "is_open": found.state == "open",
    }
    return Page("decision.html", found.title, values, watch=found.task_id or "*")


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


def phases(ask: Ask) -> Page:
    """Show the current phase of each task, and its earlier passes."""
    found = list_phases(ask.project)
    values = {
        "current": [each for each in found.passes if each.current],
        "earlier": [each for each in found.passes if not each.current],
        "problems": found.problems,
    }
    return Page("phases.html", "Phases", values)


def _coloured(source: QuotedSource) -> list[str]:
    """Return the lines as HTML, with the colours that they have in the whole file."""
    lines = [line.text for line in source.lines]
    whole = None
    if all(len(line) < LONGEST_LINE for line in lines):  # a line that was cut may lack a quote
        whole = coloured(source.file, [*source.above, *lines])
    return [escaped(line) for line in lines] if whole is None else whole[len(source.above) :]


def _item(ask: Ask, decision: DecisionView, item: ItemView) -> dict[str, Any]:
    source = source_of(ask.project, decision, item)
    lines: list[dict[str, Any]] = []
    if source is not None and source.lines:
        html = _coloured(source)
        lines = [
            {"number": line.number, "asked": line.asked, "html": html[at]}
            for at, line in enumerate(source.lines)
        ]
    return {
        "item": item,
        "context": markdown(item.context) if item.context else "",
        "source": source,
        "lines": lines,
        "labels": {option.value: option.label for option in item.options},
    }
