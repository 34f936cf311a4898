"""A code for answers that let something happen: shown on the card, typed into it, valid once.

Whoever writes to this terminal's input, as every program of the same user can, does not see the
screen. So a gate, a permission and a trust need a few letters that only the card shows. A code is
of one answer: another choice gets another code. After `TRIES` wrong ones no card shows a code for
`LOCKED_S`: nobody guesses one of 900,000 in three tries.
"""

import hmac
from collections.abc import Callable

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # without letters that look like others
LENGTH = 4
TRIES = 3
LOCKED_S = 60.0


class Codes:
    """The codes of one start of the terminal; there is one at a time."""

    def __init__(self, draw: Callable[[int], bytes], now: Callable[[], float]) -> None:
        self._draw = draw
        self._now = now
        self._code = ""
        self._typed = ""
        self._wrong = 0
        self._locked_until: float | None = None

    @property
    def shown(self) -> str:
        """The code that waits to be typed; "" if none does."""
        return self._code

    @property
    def typed(self) -> str:
        return self._typed

    @property
    def locked_s(self) -> int:
        """For how many seconds no code is shown, 0 in most cases."""
        if self._locked_until is None:
            return 0
        return max(0, round(self._locked_until - self._now() + 0.5))

    def new(self) -> bool:
        """Show a new code; return whether one may be shown now."""
        self.drop()
        if self.locked_s:
            return False
        self._code = "".join(self._letter() for _ in range(LENGTH))
        return True

    def drop(self) -> None:
        """Forget the code and what was typed of it."""
        self._code = self._typed = ""

    def erase(self) -> None:
        """Take the last letter back that was typed."""
        self._typed = self._typed[:-1]

    def type(self, character: str) -> bool | None:
        """Add a letter. Return None until the code is whole, then whether it is right."""
        self._typed += character.lower()
        if len(self._typed) < LENGTH:
            return None
        is_right = hmac.compare_digest(self._code.encode(), self._typed.encode())
        self._typed = ""
        if is_right:
            self._wrong = 0
            self.drop()
            return True
        self._wrong += 1
        if self._wrong >= TRIES:
            self._wrong = 0
            self._locked_until = self._now() + LOCKED_S
            self.drop()
        return False

    def _letter(self) -> str:
        # 248 = 8 x 31: a byte above would make some letters more likely.
        while (byte := self._draw(1)[0]) >= 248:
            pass
        return ALPHABET[byte % len(ALPHABET)]
