"""Codes for acts that change files: shown in the terminal, typed into the page, valid once.

An agent of the same user can read the key from Siding's home, so the key does not prove that a
person acts. Rolling back, applying, closing, opening a gate and cancelling a question therefore
need a code that only the terminal of `siding ui` shows. A code is bound to one act with exactly the
parameters that were shown. Only the newest code is valid.
"""

import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from siding.faces.web.text import inert
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
LENGTH = 6  # 30 bits; nobody guesses that in three tries
GOOD_FOR_S = 180.0
TRIES = 3
A_MINUTE = 30  # codes in a minute: a flood of them would hide what each one is for


class WrongCode(SidingError):
    """The code is not the one that was shown for this act."""

    code = "wrong_code"


class TooManyCodes(SidingError):
    """More than A_MINUTE codes were asked for within a minute."""

    code = "too_many_codes"


class _Waiting(NamedTuple):
    code: str
    act: str
    means: Mapping[str, Any]
    until: float
    tries: int


class Nonces:
    """The codes of one start of the dashboard; `show` writes to its terminal."""

    def __init__(
        self, show: Callable[[str], None], *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._show = show
        self._now = now
        self._waiting: _Waiting | None = None
        self._shown: list[float] = []
        self._turn = Lock()

    def ask(self, act: str, means: Mapping[str, Any], *, told: str) -> None:
        """Show a new code for an act in the terminal; any earlier code becomes invalid.

        `told` describes the act with all its parameters: the person agrees to this text. Raises
        TooManyCodes.
        """
        with self._turn:
            now = self._now()
            self._shown = [each for each in self._shown if now - each < 60]
            if len(self._shown) >= A_MINUTE:
                raise TooManyCodes("too many codes were asked for", hint="wait a minute")
            self._shown.append(now)
            code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
            self._waiting = _Waiting(code, act, dict(means), now + GOOD_FOR_S, TRIES)
        one_line = inert(" ".join(told.split()))
        self._show(f"the page wants to {one_line}; if you do too, the code is  {code}")

    def spend(self, act: str, means: Mapping[str, Any], code: str) -> None:
        """Accept a code; raise WrongCode when it is wrong, used, late, or for something else."""
        with self._turn:  # of two requests with the same code, the second one must fail
            self._spend(act, means, code)

    def _spend(self, act: str, means: Mapping[str, Any], code: str) -> None:
        waiting = self._waiting
        if waiting is None or self._now() > waiting.until:
            raise WrongCode("no code is waiting", hint="ask for a new one")
        same = waiting.act == act and waiting.means == dict(means)
        if same and hmac.compare_digest(waiting.code.encode(), code.strip().lower().encode()):
            self._waiting = None
            return
        left = waiting.tries - 1
        self._waiting = waiting._replace(tries=left) if left else None
        if not same:
            raise WrongCode("the code was shown for another act", hint="ask for a new one")
        raise WrongCode("that is not the code", hint="it is in the terminal of `siding ui`")
