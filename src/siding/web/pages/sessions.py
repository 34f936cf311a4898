"""The pages of conversations: the list, and one with its tool calls folded."""

from siding.app.sessions.sessions import rows
from siding.app.sessions.talk import Said, TalkPart, talk
from siding.app.usage.attribution import NOWHERE
from siding.app.usage.report import local_day
from siding.app.usage.sources import count_kept
from siding.web.ask import Ask
from siding.web.chart import Chart, chart
from siding.web.markdown import markdown
from siding.web.rendering import Page

SHOWN = 100
_RENDERED = ("person", "model", "summary")


def listed(ask: Ask) -> Page:
    """Show all sessions, the last changed first, and the tokens they used on each day."""
    found = rows(ask.project)
    limit = ask.number("shown", SHOWN, most=10_000)
    values = {
        "rows": found[:limit],
        "more": max(0, len(found) - limit),
        "next": limit * 3,
        "chart": _days(ask) if found else None,
    }
    return Page("sessions.html", "Sessions", values)


def one(ask: Ask) -> Page:
    """Show one conversation: its newest messages, or those before a message."""
    found = talk(ask.project, ask.words["session"], before=ask.number("before", 0))
    values = {
        "talk": found,
        "messages": [
            (said, [(part, _shown(said, part)) for part in said.parts]) for said in found.said
        ],
        "chart": chart([(call.at, call.input, call.output) for call in found.calls]),
        "input": sum(call.input for call in found.calls),
        "output": sum(call.output for call in found.calls),
    }
    return Page("session.html", found.title, values, watch="")


def _shown(said: Said, part: TalkPart) -> str:
    """Return a part as HTML; "" for one that the template shows as text.

    Messages of people and models are Markdown; those of tools are text.
    """
    return markdown(part.text) if part.kind == "text" and said.who in _RENDERED else ""


def _days(ask: Ask) -> Chart | None:
    days: dict[str, list[int]] = {}
    for each in count_kept(ask.project):
        tokens = each.call.tokens
        row = days.setdefault(local_day(each.call.at), [0, 0])
        row[0] += tokens.sent
        row[1] += tokens.output
    return chart([(day, *counts) for day, counts in sorted(days.items()) if day != NOWHERE])  # type: ignore[misc]
