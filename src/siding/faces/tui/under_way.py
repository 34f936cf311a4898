"""The acts that this screen carries out now, by the rows that they are about, and what waits."""

from collections.abc import Callable, Collection


class UnderWay:
    """Which acts are under way. One key may wait until those on its rows have ended.

    A key that begins an act while another one changes the same task would show what is true
    only in between.
    """

    def __init__(self) -> None:
        self._acts: dict[int, tuple[str, frozenset[str]]] = {}
        self._number = 0
        self._waiting: tuple[frozenset[str], Callable[[bool], None]] | None = None

    def begin(self, what: str, keys: Collection[str]) -> int:
        """Note that an act begins; return its number."""
        self._number += 1
        self._acts[self._number] = (what, frozenset(keys))
        return self._number

    def of(self, keys: Collection[str]) -> str:
        """Return which act is under way on one of these rows; "" for none."""
        return next((what for what, rows in self._acts.values() if rows & set(keys)), "")

    def wait(self, keys: Collection[str], then: Callable[[bool], None]) -> None:
        """Call `then` when no act is under way on these rows, with whether the last one was done.

        It takes the place of what waited before.
        """
        self._waiting = (frozenset(keys), then)

    def forget(self) -> None:
        """Let nothing wait: another key was pressed."""
        self._waiting = None

    def ended(self, number: int, *, is_done: bool = True) -> None:
        """Note that an act has ended, and call what has waited for it."""
        del self._acts[number]
        waiting = self._waiting
        if waiting is not None and not self.of(waiting[0]):
            self._waiting = None
            waiting[1](is_done)
