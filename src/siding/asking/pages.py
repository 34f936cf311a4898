"""The address of a decision's page on a running dashboard."""

from siding.asking.views import DecisionView
from siding.record.place.dashboard import page_url
from siding.record.place.project import Project


def page_of(project: Project, decision: DecisionView, *, with_key: bool = False) -> str | None:
    """Return the address of the decision's page; None if no dashboard runs.

    With `with_key` the address opens the page without any further proof. Pass it only to a browser;
    never print or store it.
    """
    return page_url(project, f"/decisions/{decision.session_id}", with_key=with_key)
