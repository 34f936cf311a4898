"""Why an agent is not held, or is not held any more, as a person is told."""

from siding.ground.errors import SidingError
from siding.ground.process.command import Ending
from siding.running.hosting import NotStarted
from siding.running.request import RunResult

_MOST_SHOWN = 2000  # bytes of its last words
_LINES = 6


class CannotHold(SidingError):
    """The agent of a conversation cannot be held, or not any more."""

    code = "cannot_hold"


class LastWords:
    """The end of what an agent has printed: whole lines, so that no half of a secret is shown."""

    def __init__(self) -> None:
        self._data = b""

    def add(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > 2 * _MOST_SHOWN:
            kept = self._data[-_MOST_SHOWN:]
            self._data = kept[kept.find(b"\n") + 1 :] if b"\n" in kept else b""

    def __str__(self) -> str:
        lines = [each.strip() for each in self._data.decode(errors="replace").splitlines()]
        return " | ".join([each for each in lines if each][-_LINES:])


def why_ended(result: RunResult, words: str, *, was_ready: bool) -> str:
    """Return why an agent has ended that nobody told to."""
    outcome = result.outcome
    when = "" if was_ready else " before it was ready"
    if outcome is None:
        step = result.step
        reason = result.ruling.reason or (step.reason if step is not None else "")
        return f"it may not start: {reason or 'a hook stopped it'}"
    if outcome.ending is Ending.NOT_STARTED:
        return f"it could not be started: {outcome.reason}"
    if outcome.ending is Ending.SIGNALLED:
        how = f"it was {outcome.reason}{when}"
    else:
        how = outcome.reason or f"it ended by itself{when} (exit status {outcome.exit_code})"
    return f"{how}; it said: {words}" if words else how


def why(error: BaseException) -> str:
    """Return what a person is told of an error that ends a host."""
    if isinstance(error, NotStarted):
        return why_ended(error.result, "", was_ready=False)
    if isinstance(error, SidingError):
        return error.message
    if isinstance(error, KeyboardInterrupt):
        return "it was interrupted"
    kind = "" if isinstance(error, OSError) else f"{type(error).__name__}: "
    return f"its host failed: {kind}{error}"


def hint_of(error: BaseException) -> str | None:
    return error.hint if isinstance(error, SidingError) else None
