"""Decide which keys a card may take. Pure: the clock is the caller's.

A key answers a card only if all of this holds:

1. The card was armed by the chord while it was the one on the screen. Focus arms nothing: a widget
   that goes hands its focus to a neighbour, and a terminal gives it back when it gets its own.
2. It is on the screen for `AFTER_SHOWN_S`. What a person typed before they saw it is not an answer.
3. The chord is older than `AFTER_CHORD_S`, and so is the last key or paste that went elsewhere. A
   held key, or a sentence that goes on, does not become an answer.

After an answer, when another card comes, and when the focus goes, the card is no longer armed.
"""

from collections.abc import Callable

AFTER_SHOWN_S = 0.4
AFTER_CHORD_S = 0.15
AFTER_TYPED_S = 0.15


class Arming:
    """The one card on the screen, and whether it is armed."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._shown = ""
        self._shown_at = 0.0
        self._armed_at: float | None = None
        self._typed_at: float | None = None

    @property
    def shown(self) -> str:
        """The id of what the card on the screen asks; "" if there is none."""
        return self._shown

    @property
    def is_armed(self) -> bool:
        return self._armed_at is not None

    def show(self, ask: str) -> None:
        """Put a card on the screen, "" for none. The same one again changes nothing."""
        if ask == self._shown:
            return
        self._shown, self._shown_at = ask, self._now()
        self._armed_at = None

    def chord(self) -> bool:
        """Arm the card on the screen; return whether there is one."""
        if not self._shown:
            return False
        self._armed_at = self._now()
        return True

    def disarm(self) -> None:
        self._armed_at = None

    def typed(self) -> None:
        """Note a key or a paste that was not for the card."""
        self._typed_at = self._now()

    def takes(self) -> bool:
        """Tell whether the card may take the key that comes now."""
        if self._armed_at is None:
            return False
        now = self._now()
        return (
            now - self._shown_at > AFTER_SHOWN_S
            and now - self._armed_at > AFTER_CHORD_S
            and (self._typed_at is None or now - self._typed_at > AFTER_TYPED_S)
        )
