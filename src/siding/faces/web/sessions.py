"""The pages of conversations: the list, and one with its tool calls folded.

Charts are drawn as inline SVG, with a table of the same numbers.
"""

from collections.abc import Sequence
from typing import Any

from siding.faces.web.rendering import Page
from siding.faces.web.request import Ask
from siding.faces.web.syntax import markdown
from siding.ground.namedtuples import NamedTuple
from siding.sessions.lookup import SessionFilter, scope_of_project, sessions
from siding.sessions.reader import readable
from siding.sessions.sessions import as_row
from siding.sessions.sessions import rows as session_rows
from siding.sessions.steps import led_to
from siding.sessions.talk import Said, TalkPart, talk
from siding.usage.report import NOWHERE, local_day
from siding.usage.sources import count_kept

WIDTH, HEIGHT = 640, 140
_MOST_BARS = 120
SHOWN = 100
_RENDERED = ("person", "model", "summary")


class Bar(NamedTuple):
    """One column: its position, the heights of its two parts, and its label and values."""

    x: float
    width: float
    low: float  # height of the lower part
    high: float  # height of the part on top of it
    label: str
    values: tuple[int, int]


class Chart(NamedTuple):
    """Columns of two parts each, drawn in `WIDTH` by `HEIGHT`; `most` is the top of the scale."""

    bars: tuple[Bar, ...]
    most: int
    width: int = WIDTH
    height: int = HEIGHT


def chart(rows: Sequence[tuple[str, int, int]]) -> Chart | None:
    """Return the columns for (label, lower, upper) rows; None when all values are 0.

    With more than `_MOST_BARS` rows, neighbours are added up.
    """
    joined = _joined(rows)
    most = max((low + high for _, low, high in joined), default=0)
    if not most:
        return None
    step = WIDTH / max(len(joined), 12)
    bars = [
        Bar(
            x=round(number * step + step * 0.12, 2),
            width=round(step * 0.76, 2),
            low=round(HEIGHT * low / most, 2),
            high=round(HEIGHT * high / most, 2),
            label=label,
            values=(low, high),
        )
        for number, (label, low, high) in enumerate(joined)
    ]
    return Chart(bars=tuple(bars), most=most)


def _joined(rows: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    size = -(-len(rows) // _MOST_BARS) or 1
    groups = [rows[at : at + size] for at in range(0, len(rows), size)]
    return [
        (group[0][0], sum(row[1] for row in group), sum(row[2] for row in group))
        for group in groups
    ]


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


def sessions_json(ask: Ask) -> dict[str, Any]:
    """Return the conversations of the project."""
    return {"sessions": [as_row(row) for row in session_rows(ask.project)]}
