"""Decisions for cards in tests, checked as those of an agent are."""

from typing import Any

from siding.asking.decisions.record import Decision, DecisionState, Origin
from siding.asking.decisions.request import check_request
from siding.asking.views import DecisionView, InboxEntry, view_of
from siding.faces.tui.cards.codes import Codes
from siding.faces.tui.cards.decision_card import DecisionCard
from siding.feed.model import Ask, AskKind


class Clock:
    """A clock that a test moves, in seconds."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def options(*values: str, **more: Any) -> dict[str, Any]:
    """Return an item with these options."""
    listed = [{"value": each, "label": each.title()} for each in values]
    return {"id": 1, "title": "which one?", "options": listed, **more}


def decision(*items: dict[str, Any], gate: str = "") -> DecisionView:
    """Return an open decision with these items."""
    request = check_request({"task": "the work", "source": "plan.md", "items": [*items]}).request
    origin = Origin(session_id="d1", created_at="2026-01-01T00:00:00+00:00")
    return view_of(Decision(origin, request, DecisionState.OPEN), gate=gate)


def letters(_size: int) -> bytes:
    """Draw the same letter always."""
    return b"\x00"


def card(*items: dict[str, Any], kind: AskKind = AskKind.QUESTION, gate: str = "") -> DecisionCard:
    """Return the card of a decision; its codes are `2222`."""
    return DecisionCard("ask", kind, decision(*items, gate=gate), Codes(letters, Clock()))


def ask(name: str, kind: AskKind = AskKind.QUESTION, row: str = "") -> Ask:
    """Return an ask of a row."""
    entry = InboxEntry(
        kind="decision",
        project="p",
        repo_root="/p",
        project_dir="/home/p-0000",
        title=f"title of {name}",
        detail="",
        since="",
        command="siding inbox",
        page=f"/decisions/{name}",
        session_id=name,
        task_name="work",
    )
    return Ask(name, kind, entry, row, f"siding://p-0000/~asks/{name}")
