"""Find which turns a conversation has: a copy leaves out what was taken back. Pure."""

from collections.abc import Collection, Sequence

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.turns import ReportedTurn


class Copied(NamedTuple):
    """The conversation that another one is a copy of, and the first turn that the copy leaves out.

    Both are the agent's own ids; "" for a conversation that is no copy.
    """

    session: str = ""
    without: str = ""


class Conversation(NamedTuple):
    """The turns of a conversation, oldest first.

    `own` were made in it, `inside` are all that the model sees, and `left_out` those that the copy
    leaves out.
    """

    own: Sequence[ReportedTurn]
    inside: Sequence[ReportedTurn]
    left_out: Sequence[ReportedTurn] = ()


def conversation_of(
    turns: Sequence[ReportedTurn],
    session: str,
    copied: Copied,
    passed: Collection[str] = frozenset(),
) -> Conversation:
    """Return the turns of a conversation. `turns` are all of a task's, oldest first.

    `copied` counts where no turn says of what it is a copy. `passed`: its own copies.
    """
    own = [turn for turn in turns if turn.detail.session == session]
    told = (Copied(turn.detail.copy_of, turn.detail.without) for turn in own)
    of = next((each for each in told if each.session), copied)
    if not of.session or of.session == session or of.session in passed:
        return Conversation(own, own)
    until = own[0].step.number if own else None
    earlier = [turn for turn in turns if until is None or turn.step.number < until]
    before = conversation_of(earlier, of.session, Copied(), {*passed, session})
    ids = [turn.detail.turn for turn in before.inside]
    at = ids.index(of.without) if of.without in ids else len(ids)
    left_out = [*before.left_out, *before.inside[at:]]
    return Conversation(own, [*before.inside[:at], *own], left_out)
