"""Where a decision has its page, when a dashboard runs."""

from siding.app.decisions.views import DecisionView
from siding.app.place.project import Project


def page_of(project: Project, decision: DecisionView, *, with_key: bool = False) -> str | None:
    """Return the address of the decision's page; None when no dashboard runs.

    `with_key` is for handing it to a browser, never for printing: it opens the page by itself.
    """
    from siding.app.place.dashboard import page_url

    return page_url(project, f"/decisions/{decision.session_id}", with_key=with_key)
