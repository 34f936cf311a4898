"""What becomes of a request that failed: made again, by another model, or given up. Pure.

Why it failed decides whether it is made again at all; how often it failed, for how long it waits.
"""

from siding.assistant.loop.model import ModelError, Trouble
from siding.ground.namedtuples import NamedTuple

MOST_TRIES = 10
FALLBACK_AFTER = 3  # overloads in a row, after which another model is asked
_FIRST_S, _LONGEST_S = 0.5, 32.0
_LONGEST_ASKED_S = 600.0  # a server that wants more is not waited for
_PASSING = frozenset({Trouble.OVERLOADED, Trouble.RATE, Trouble.SERVER, Trouble.CONNECTION})


class Again(NamedTuple):
    """The request is made again after `after_s` seconds.

    Not `is_streamed`: a stream broke, so the next answer is asked for in one piece.
    """

    after_s: float
    is_streamed: bool


class OtherModel(NamedTuple):
    """The request is made of another model, at once."""

    model: str


class GiveUp(NamedTuple):
    """The request is not made again."""


class Failures(NamedTuple):
    """What has failed since an answer was whole. `overloads`: the newest ones in a row."""

    times: int = 0
    overloads: int = 0
    broken: int = 0  # streams that broke off

    def with_error(self, error: ModelError) -> "Failures":
        """Return the failures with one more."""
        return Failures(
            times=self.times + 1,
            overloads=self.overloads + 1 if error.trouble is Trouble.OVERLOADED else 0,
            broken=self.broken + (error.trouble is Trouble.CONNECTION and error.has_begun),
        )


def next_step(
    error: ModelError,
    failures: Failures,
    *,
    fallback: str | None,
    most: int = MOST_TRIES,
    spread: float = 0.0,
) -> Again | OtherModel | GiveUp:
    """Return what to do about an error; `failures` has it already.

    `fallback` is a model that was not asked yet. `spread`, from 0 to 1, keeps many clients from
    coming back at the same moment.
    """
    if error.trouble not in _PASSING:
        return GiveUp()
    if fallback is not None and failures.overloads >= FALLBACK_AFTER:
        return OtherModel(fallback)
    asked_s = error.after_s or 0.0
    if failures.times > most or asked_s > _LONGEST_ASKED_S:
        return GiveUp() if fallback is None else OtherModel(fallback)
    own_s = min(_FIRST_S * 2.0 ** (failures.times - 1), _LONGEST_S)
    return Again(
        after_s=max(asked_s, own_s * (1 + 0.25 * spread)), is_streamed=failures.broken == 0
    )
