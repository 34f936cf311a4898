"""Describe the damaged lines of a transcript, and where the conversation was joined across them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from siding.agents.transcripts.reading.transcript import Gap, TranscriptDamage


_MOST_LINES = 20


def damage_lines(damage: "Sequence[TranscriptDamage]", gaps: "Sequence[Gap]") -> Iterator[str]:
    """Yield a line for each damaged line of the transcript and for each missing message."""
    told = [f"line {each.number} cannot be read: {each.problem}" for each in damage]
    told += map(gap_text, gaps)
    yield from told[:_MOST_LINES]
    if len(told) > _MOST_LINES:
        more = len(told) - _MOST_LINES
        yield f"{more} more places are damaged; `siding session doctor` names them all"


def gap_text(gap: "Gap") -> str:
    """Describe one missing message, and the message from which the conversation goes on."""
    missing = f"line {gap.number}: the message before it ({gap.missing!r}) is not there"
    if gap.bridged_to is None:
        return f"{missing}; the conversation begins here"
    return f"{missing}; the conversation was put together behind {gap.bridged_to!r}"
