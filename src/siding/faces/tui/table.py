"""Which place shows an address."""

from siding.faces.tui.place import Place
from siding.feed.addresses import ASKS, WORKFLOWS, Address


def place_for(address: Address | None) -> Place:
    """Return the place that shows an address; None: the first one of all.

    What is of no task is shown on Home. Each place is loaded when it is first shown.
    """
    if address is None or address.place in ("", WORKFLOWS, ASKS):
        from siding.faces.tui.places.home.place import HomePlace

        return HomePlace(address)
    from siding.faces.tui.places.task.place import TaskPlace

    return TaskPlace(address)
