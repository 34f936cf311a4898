"""Where a conversation goes on when turns of it were taken back or done again. Pure.

The ledger says which turns stand; the lines of the transcript say what belongs to a turn: the
prompt with its `promptId`, and what follows it until the next prompt.
"""

from collections.abc import Iterable, Mapping, Sequence

from siding.agents.transcripts.kinds import Record
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text


class GoesOn(NamedTuple):
    """The id of the message that a conversation goes on after; None: it begins anew."""

    after: str | None


def going_on(
    records: Sequence[Record], chain: Iterable[Record], turns: Sequence[tuple[str, bool]]
) -> GoesOn | None:
    """Return where the conversation goes on; None if it is there already.

    `records` are all lines of the transcript in their order, `chain` those that the model sees now.
    `turns` are the turns that the ledger knows, oldest first, and whether each stands. A turn that
    it does not know, because it was not recorded, stands.
    """
    gone = {turn for turn, stands in turns if not stands}
    newest = next((turn for turn, stands in reversed(turns) if stands), "")
    now = [each for each in chain if _turn(each)]
    first_gone = next((each for each in now if _turn(each) in gone), None)
    prompts = {_turn(each): each for each in records if _turn(each)}
    if newest in prompts and not any(_turn(each) == newest for each in now):
        return GoesOn(_last_of(records, prompts[newest]))
    if first_gone is None:
        return None
    return GoesOn(text(first_gone.get("parentUuid")) or None)


def _last_of(records: Sequence[Record], prompt: Record) -> str:
    """Return the id of the last message of a turn: on its newest branch, before another prompt."""
    newest: dict[str, str] = {}  # message -> the last one written after it, of the same turn
    turn = _turn(prompt)
    for each in records:
        if _turn(each) in ("", turn):
            newest[text(each.get("parentUuid"))] = text(each.get("uuid"))
    return _followed(newest, text(prompt.get("uuid")))


def _followed(newest: Mapping[str, str], uuid: str) -> str:
    seen = {uuid}
    while (after := newest.get(uuid, "")) and after not in seen:
        seen.add(after)
        uuid = after
    return uuid


def _turn(record: Record) -> str:
    return text(record.get("promptId"))
