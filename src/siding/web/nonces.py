"""Codes for acts that change files: shown in the terminal, typed in the page, good once.

Whoever has the key is the person, and so is an agent that reads it from the home. Rolling back,
applying and closing, opening a gate and cancelling a question therefore need a code that appears
only where `siding ui` was started. A code belongs to one act with exactly the parameters that were
shown; there is one at a time.
"""

import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, NamedTuple

from siding.errors import SidingError
from siding.web.inert import inert

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
LENGTH = 6  # 30 bits, and three tries
GOOD_FOR_S = 180.0
TRIES = 3
A_MINUTE = 30  # codes: a terminal full of them hides what they are for


class WrongCode(SidingError):
    """The code is not the one that was shown for this act."""

    code = "wrong_code"


class TooManyCodes(SidingError):
    """The terminal was asked for more codes than anybody types."""

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
        """Show a code for an act; one that was shown before is worth nothing from then on.

        `told` names the act and all that matters of it: it is what the person agrees to.
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
        with self._turn:  # two requests with one code: one of them comes second
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
            raise WrongCode("the code was shown for something else", hint="look at it again")
        raise WrongCode("that is not the code", hint="it is in the terminal of `siding ui`")
