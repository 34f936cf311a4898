"""The pages of conversations: the list, and one with its tool calls folded."""

from siding.faces.web.ask import Ask
from siding.faces.web.chart import Chart, chart
from siding.faces.web.markdown import markdown
from siding.faces.web.rendering import Page
from siding.sessions.finding import SessionFilter, scope_of_project, sessions
from siding.sessions.reading import readable
from siding.sessions.steps import led_to
from siding.sessions.talk import Said, TalkPart, talk
from siding.usage.attribution import NOWHERE
from siding.usage.report import local_day
from siding.usage.sources import count_kept

SHOWN = 100
_RENDERED = ("person", "model", "summary")


def listed(ask: Ask) -> Page:
    """Show the sessions of the project, the last changed first, found ones as well.

    Of those that are kept here also the tokens they used on each day.
    """
    found = sessions(ask.project.app, scope_of_project(ask.project), SessionFilter()).rows
    limit = ask.number("shown", SHOWN, most=10_000)
    values = {
        "rows": found[:limit],
        "more": max(0, len(found) - limit),
        "next": limit * 3,
        "chart": _days(ask) if found else None,
    }
    return Page("sessions.html", "Sessions", values)


def one(ask: Ask) -> Page:
    """Show one conversation: its newest messages, those before a message, or from a step's on."""
    session = readable(ask.project.app, scope_of_project(ask.project), ask.words["session"])
    steps = led_to(ask.project, session.found)
    found = talk(session, steps, before=ask.number("before", 0), step=ask.number("step", 0))
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
