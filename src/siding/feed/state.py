"""The state of a row, from what is recorded of it. Pure; the order of the rules is all there is."""

from collections.abc import Iterable

from siding.feed.model import Ask, AskKind, Row, State
from siding.feed.moments import moment_of
from siding.ground.namedtuples import NamedTuple

_BROKEN = (AskKind.FAILURE, AskKind.WORKFLOW)
_ORDER = {state: place for place, state in enumerate(State)}


class Facts(NamedTuple):
    """What decides the state of a task or of a run of a workflow."""

    asks: tuple[AskKind, ...] = ()  # that are open
    runs: bool = False  # a run of it lives, or a workflow works in it
    is_cut_off: bool = False  # an act began, and its process died before it was recorded
    unapplied: bool = False  # it changed something that is not applied
    is_closed: bool = False


def state_of(facts: Facts) -> State:
    """Return the state.

    What a person is asked comes before all else. A failure of an earlier step counts no more while
    something runs: a retry is under way. An act that was cut off does count then, because nobody
    finishes it.
    """
    if any(kind not in _BROKEN for kind in facts.asks):
        return State.WAITS
    if facts.is_closed and not facts.runs:
        return State.DONE
    if facts.is_cut_off or (facts.asks and not facts.runs):
        return State.BROKE
    if facts.runs:
        return State.RUNS
    return State.READY if facts.unapplied else State.RESTS


def ordered(rows: Iterable[Row]) -> list[Row]:
    """Return the rows as a screen shows them at first.

    By state; of those that wait and run the oldest first, of the others the newest; each row is
    followed by those below it, in their own order.
    """
    top: list[Row] = []
    below: dict[str, list[Row]] = {}
    found = list(rows)
    keys = {row.key for row in found}
    for row in found:
        if row.parent in keys:
            below.setdefault(row.parent, []).append(row)
        else:
            top.append(row)
    result: list[Row] = []
    for row in sorted(top, key=_place):
        result += _with_those_below(row, below)
    return result


def _with_those_below(row: Row, below: dict[str, list[Row]]) -> list[Row]:
    found = [row]
    for child in below.pop(row.key, ()):
        found += _with_those_below(child, below)
    return found


def _place(row: Row) -> tuple[int, bool, float, str]:
    at = moment_of(row.since)
    oldest_first = row.state in (State.WAITS, State.RUNS)
    return (_ORDER[row.state], not row.since, at if oldest_first else -at, row.key)


def longest_waiting(asks: Iterable[Ask]) -> list[Ask]:
    """Return the asks, longest waiting first; those without a time last."""
    return sorted(asks, key=lambda ask: (not ask.entry.since, moment_of(ask.entry.since), ask.id))
