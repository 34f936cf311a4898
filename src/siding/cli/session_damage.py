"""Say what of a conversation could not be read, and where it was put together all the same."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from siding.sessions.transcript import Damage, Gap


def damage_lines(damage: "Iterable[Damage]", gaps: "Iterable[Gap]") -> Iterator[str]:
    """Yield a line for each damaged line of the transcript and for each missing message."""
    for each in damage:
        yield f"line {each.number} cannot be read: {each.problem}"
    for gap in gaps:
        yield gap_text(gap)


def gap_text(gap: "Gap") -> str:
    """Return where a message is missing and what the conversation goes on from."""
    missing = f"line {gap.number}: the message before it ({gap.missing!r}) is not there"
    if gap.bridged_to is None:
        return f"{missing}; the conversation begins here"
    return f"{missing}; the conversation was put together behind {gap.bridged_to!r}"
