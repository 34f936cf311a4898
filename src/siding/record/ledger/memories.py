"""Decide where an agent's conversation goes on, so that it knows nothing of turns taken back. Pure.

A conversation and its copies (`Copied`) are a family: what one leaves out, another may still have.
So after an undo it goes on in a copy that ends before the first turn that was taken back, and after
a redo in the older one that has that turn.

A turn that was taken back stays in the conversation if a later one stands: the agent was told of it
then, and what stands is not to be forgotten.
"""

from collections.abc import Iterable, Sequence

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.turns import Copied, ReportedTurn, conversation_of

_NONE = Copied()


class Place(NamedTuple):
    """Where to go on: in the conversation `session`, before its turn `before`; "": as it is."""

    session: str
    before: str
    about: str = ""  # what the turn `before` was asked
    keeps: tuple[ReportedTurn, ...] = ()  # oldest first
    forgets: tuple[ReportedTurn, ...] = ()  # of the present one
    recalls: tuple[ReportedTurn, ...] = ()  # that the present one does not have


def place_to_go(
    turns: Sequence[ReportedTurn], session: str, copied: Copied = _NONE
) -> Place | None:
    """Return where the conversation `session` is to go on; None: where it is.

    `turns` are all of the task's, oldest first. `copied` says of what `session` is a copy, where no
    turn does yet. Of places that are as good the present conversation is taken, then the newest.
    """
    present = conversation_of(turns, session, copied).inside
    here = _place_in(session, present, present)
    if here is None:
        return None
    elsewhere = (
        _place_in(each, conversation_of(turns, each, _NONE).inside, present)
        for each in _relatives(turns, session, copied)
    )
    # Of those that are as good it is the first one.
    best = max((here, *(each for each in elsewhere if each is not None)), key=_standing)
    return None if best.session == session and not best.before else best


def _place_in(
    session: str, inside: Sequence[ReportedTurn], present: Sequence[ReportedTurn]
) -> Place | None:
    """Return the place in a conversation right after its newest turn that stands.

    None if the turn behind it has no id of its agent's.
    """
    kept = len(inside)
    while kept and not inside[kept - 1].stands:
        kept -= 1
    cut = inside[kept].detail if kept < len(inside) else None
    if cut is not None and not cut.turn:
        return None
    keeps = tuple(inside[:kept])
    ours, theirs = _numbers(present), _numbers(keeps)
    return Place(
        session,
        before="" if cut is None else cut.turn,
        about="" if cut is None else cut.prompt,
        keeps=keeps,
        forgets=tuple(turn for turn in present if turn.step.number not in theirs),
        recalls=tuple(turn for turn in keeps if turn.step.number not in ours),
    )


def _standing(place: Place) -> int:
    """Return how many turns that stand it knows: the more, the better."""
    return sum(turn.stands for turn in place.keeps)


def _relatives(turns: Sequence[ReportedTurn], session: str, copied: Copied) -> list[str]:
    """Return the conversations that this one is a copy of, or has as its copies, newest first."""
    pairs = {(turn.detail.session, turn.detail.copy_of) for turn in turns if turn.detail.copy_of}
    pairs |= {(session, copied.session)} if copied.session else set()
    family = {session}
    while more := {name for pair in pairs if family & {*pair} for name in pair} - family:
        family |= more
    newest = list(dict.fromkeys(turn.detail.session for turn in reversed(turns)))
    return [each for each in newest if each in family - {session}]


def _numbers(turns: Iterable[ReportedTurn]) -> frozenset[int]:
    return frozenset(turn.step.number for turn in turns)
