"""What the status line is about, of the place on top and the feed. Pure."""

from siding.faces.tui.foot import waiting_in
from siding.feed.addresses import ASKS, WORKFLOWS, Address
from siding.feed.model import Feed, State
from siding.statusline.place import Place


def place_of(address: Address | None, feed: Feed) -> Place:
    """Return what the line is about where an address is shown; None is Home, with all projects."""
    counts = {state.value: len(feed.in_state(state)) for state in State}
    counts[State.WAITS.value] = waiting_in(feed)
    if address is None or address.place in ("", WORKFLOWS, ASKS):
        return Place(siding={"counts": counts})
    names = (address.project, address.place)
    row = next((each for each in feed.rows if (each.project, each.id) == names), None)
    of_task = [each for each in feed.rows if row is not None and row.key in (each.key, each.parent)]
    state = "" if row is None else row.state.value
    return Place(
        project=address.project,
        task=address.place,
        lines_added=0 if row is None else row.additions,
        lines_removed=0 if row is None else row.deletions,
        siding={"counts": counts, "state": state},
        marks=tuple(f"{each.state}{each.what}{each.since}{each.mark}" for each in of_task),
    )
