"""Find where a conversation goes on when its newest turns were taken back. Pure."""

from collections.abc import Sequence


def first_gone(gone: Sequence[bool]) -> int | None:
    """Return the index of the first prompt to leave out; None if there is none.

    `gone` tells of each prompt, in the order of the conversation, whether its turn was taken back.
    After one that stands nothing is left out: the agent was told of what was taken back before it,
    and has gone on.
    """
    at = len(gone)
    while at and gone[at - 1]:
        at -= 1
    return at if at < len(gone) else None
