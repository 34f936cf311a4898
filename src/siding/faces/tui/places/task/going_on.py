"""From a task to the next one that waits, and to the rows of home that have a number."""

from siding.faces.tui.cards.answering import Answering
from siding.faces.tui.keys import Key
from siding.faces.tui.slots import slot_of
from siding.feed.addresses import Address
from siding.feed.model import Feed, RowKind, State
from siding.feed.state import ordered

# What a place can do before its task is read.
_ANY = frozenset("back go_home leave help palette redraw suspend next previous".split())


class GoingOn(Answering):
    """The part of the place that leads to other tasks. `back` then leads past this one."""

    def run_key(self, key: Key) -> None:
        """Go to the row with a number; run any other act."""
        if slot := slot_of(key.act):
            self._go_to_slot(slot)
        else:
            super().run_key(key)

    def act_next(self) -> None:
        """Go to the next one that waits."""
        self._go_on(1)

    def act_previous(self) -> None:
        """Go to the one before that waits."""
        self._go_on(-1)

    def _go_on(self, step: int) -> None:
        found = waiting_from(self.port.feed, self._here, step)
        if found:
            self.port.go_on_to(found)
        else:
            self.port.say("nothing else waits for you")

    def _go_to_slot(self, number: int) -> None:
        feed = self.port.feed
        self.port.slots.take(ordered(feed.rows))
        wanted = self.port.slots.row_of(number)
        row = next((each for each in feed.rows if each.key == wanted), None)
        if row is None:
            self.port.say(f"no row has the number {number}")
        elif row.address == self._here:
            self.port.say(f"this is row {number}")
        else:
            self.port.go_on_to(row.address)

    @property
    def _here(self) -> str:
        address = self.address
        return "" if address is None else str(Address(address.project, address.place))


def waiting_from(feed: Feed, here: str, step: int) -> str:
    """Return the address of the next one that waits, round the end; "" if nothing else does.

    They are in the order of home; what asks without a task comes last.
    """
    rows = [row for row in ordered(feed.rows) if row.kind is not RowKind.CHAT]  # its task waits
    keys = {row.key for row in rows}
    waiting = [row.address for row in rows if row.state is State.WAITS]
    waiting += [ask.address for ask in feed.asks if ask.row not in keys]
    if here in waiting:
        at = waiting.index(here) + step
    else:
        at = 0 if step > 0 else -1
    found = waiting[at % len(waiting)] if waiting else ""
    return "" if found == here else found


def is_of_any_place(act: str) -> bool:
    """Tell whether an act needs nothing of the task that is shown."""
    return act in _ANY or bool(slot_of(act))
