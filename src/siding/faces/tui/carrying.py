"""Carrying out an act on rows: what is pressed meanwhile waits for it."""

from collections.abc import Callable, Collection
from functools import partial
from typing import TypeVar

from siding.faces.tui.ports import AppPort

T = TypeVar("T")


def carried_out(
    port: AppPort,
    what: str,
    keys: Collection[str],
    function: Callable[[], T],
    then: Callable[[T], None],
) -> None:
    """Carry out an act on these rows in a thread; what waits for it comes after `then`."""
    under_way = port.under_way
    number = under_way.begin(what, keys)

    def done(found: T) -> None:
        then(found)
        under_way.ended(number)

    port.work(function, then=done, failed=partial(under_way.ended, number, is_done=False))
