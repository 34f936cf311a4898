"""Decisions, what waits, and phases, for programs."""

from typing import Any

from siding.app.decision_views import as_record
from siding.app.decisions import answer as answer_decision
from siding.app.decisions import cancel as cancel_decision
from siding.app.decisions import get, list_decisions
from siding.app.phases import as_record as phase_record
from siding.app.phases import list_phases
from siding.web.api.reading import Fields
from siding.web.ask import Ask
from siding.web.waiting import everything_waiting


def listed(ask: Ask) -> dict[str, Any]:
    """The decisions."""
    found, problems = list_decisions(ask.project, closed=ask.number("all", 0, most=1) == 1)
    return {"decisions": [as_record(each) for each in found], "problems": problems}


def one(ask: Ask) -> dict[str, Any]:
    """One decision."""
    return as_record(get(ask.project, ask.words["decision"]))


def answer(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Answer it."""
    answers = fields.any("decisions")
    fields.done()
    return as_record(answer_decision(ask.project, ask.words["decision"], answers, via="page"))


def cancel(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Cancel it."""
    reason = fields.text("reason", "", longest=1000)
    fields.done()
    return as_record(cancel_decision(ask.project, ask.words["decision"], reason=reason, via="page"))


def inbox(ask: Ask) -> dict[str, Any]:
    """What waits for a person."""
    entries, problems = everything_waiting(ask.project)
    return {"entries": [each._asdict() for each in entries], "problems": list(problems)}


def phases(ask: Ask) -> dict[str, Any]:
    """Where tasks stand."""
    found = list_phases(ask.project)
    return {
        "phases": [phase_record(each) for each in found.passes],
        "problems": list(found.problems),
    }
