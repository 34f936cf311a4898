"""A search through an output that goes on until something is found, or the person stops it.

Each slice of it is work in a thread, so keys are obeyed and the screen is drawn meanwhile.
"""

from collections.abc import Callable

from siding.faces.tui.ports import AppPort
from siding.faces.tui.rows.searching import Hit, Search

_SLICE_S = 0.1


class Finding:
    """At most one search. `changed` is called whenever there is something else to say of it."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._search: Search | None = None

    @property
    def goes_on(self) -> bool:
        """Tell whether it searches."""
        return self._search is not None

    @property
    def said(self) -> str:
        """How far it is; "" if nothing is searched."""
        if self._search is None:
            return ""
        share = self._search.done * 100 // max(1, self._search.total)
        return f"searching, {min(share, 99)} %, escape stops it"

    def begin(self, port: AppPort, search: Search, then: Callable[[Hit | None], None]) -> None:
        """Search; give `then` the first hit, or None if there is none. Another search ends."""
        self._search = search
        self._go_on(port, search, then)

    def stop(self) -> None:
        """Search no further."""
        if self._search is not None:
            self._search = None
            self._changed()

    def _go_on(self, port: AppPort, search: Search, then: Callable[[Hit | None], None]) -> None:
        def took(hit: Hit | None) -> None:
            if self._search is not search:  # it was stopped meanwhile, or another one has begun
                return
            if hit is None and not search.has_ended:
                self._changed()
                self._go_on(port, search, then)
                return
            self._search = None
            then(hit)
            self._changed()

        def failed() -> None:  # why is said already
            if self._search is search:
                self.stop()

        port.work(lambda: search.go_on(_SLICE_S), then=took, failed=failed)
