"""What places ask of the app. `SidingApp` is this; tests have smaller ones."""

from collections.abc import Callable, Collection, Sequence
from typing import Literal, Protocol, TypeVar

from siding.faces.tui.keys import Key, KeyTable
from siding.faces.tui.rows.styles import Look
from siding.faces.tui.slots import Slots
from siding.faces.tui.under_way import UnderWay
from siding.feed.addresses import Address
from siding.feed.model import Feed
from siding.record.place.wiring import App

Severity = Literal["note", "warning", "error"]
T = TypeVar("T")


class AppPort(Protocol):
    """The app around the places."""

    @property
    def siding(self) -> App:
        """The application that acts are carried out with."""

    @property
    def feed(self) -> Feed:
        """Everything, as of the newest change that came."""

    @property
    def look(self) -> Look:
        """Which colours and marks there are."""

    @property
    def slots(self) -> Slots:
        """The numbers of the rows, in all places the same."""

    @property
    def under_way(self) -> UnderWay:
        """The acts that are carried out now."""

    def open_address(self, address: Address | str) -> None:
        """Show what an address names. Says so if nothing has this address."""

    def go_on_to(self, address: Address | str) -> None:
        """Show what an address names in place of the place on top: `back` does not come here."""

    def back(self) -> None:
        """Leave the place for the one below it; at home, leave the program."""

    def work(
        self,
        function: Callable[[], T],
        *,
        then: Callable[[T], None] | None = None,
        failed: Callable[[], None] | None = None,
    ) -> None:
        """Carry out an act of Siding in a thread, and give what it returns to `then`, in the loop.

        A failure is shown with what, why and what to do; then `failed` is called and not `then`.
        """

    def say(self, text: str, severity: Severity = "note") -> None:
        """Show a sentence at the foot until the next key."""

    def show(self, addresses: Collection[str]) -> None:
        """Say what the place on top shows: no notice is given of what a person looks at."""

    def table_of(self, place: str, entries: Sequence[Key]) -> KeyTable:
        """Return the keys of a place, with those that the settings change."""

    def run_key(self, key: Key) -> None:
        """Carry out an act that is the same in every place, or say that this place has none."""

    def copy(self, text: str) -> None:
        """Put a text on the clipboard, as far as the terminal lets us."""

    def hand_over(self, project: str, task: str, run: str) -> None:
        """Give the whole terminal to a run until it is left; then come back to where we were."""
