"""The page of phases: where tasks stand in their process."""

from typing import Any

from siding.faces.web.rendering import Page
from siding.faces.web.request import Ask
from siding.phases.phases import as_record as phase_record
from siding.phases.phases import list_phases


def phases(ask: Ask) -> Page:
    """Show the current phase of each task, and its earlier passes."""
    found = list_phases(ask.project)
    values = {
        "current": [each for each in found.passes if each.current],
        "earlier": [each for each in found.passes if not each.current],
        "problems": found.problems,
    }
    return Page("phases.html", "Phases", values)


def phases_json(ask: Ask) -> dict[str, Any]:
    """Return the phases of tasks: their current passes and the earlier ones."""
    found = list_phases(ask.project)
    return {
        "phases": [phase_record(each) for each in found.passes],
        "problems": list(found.problems),
    }
