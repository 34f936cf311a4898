"""End what works beside a conversation. In a thread."""

from siding.faces.tui.acts import workflows
from siding.faces.tui.selector.model import Entry, Kind
from siding.feed.addresses import parsed
from siding.ground.errors import UsageError
from siding.record.place.project import named_project
from siding.record.place.wiring import App

# Why it cannot be ended alone, and what ends it.
_WITH_OTHERS = {
    Kind.AGENT: ("a helper is ended with its turn", "stop the turn of the conversation"),
    Kind.SHELL: (
        "what an agent has in the background is its own",
        "ask the agent to end it, or end the conversation: `siding chat end`",
    ),
    Kind.MEMBER: ("an agent of a workflow is ended with its run", "choose the row of the workflow"),
}


def end_entry(app: App, entry: Entry) -> str:
    """End one; return what was done. Raises UsageError for what is not ended alone."""
    if entry.kind is not Kind.WORKFLOW:
        why, hint = _WITH_OTHERS[entry.kind]
        raise UsageError(why, hint=hint)
    address = parsed(entry.address)
    return workflows.kill(named_project(app._replace(project=address.project)), address.rest)
