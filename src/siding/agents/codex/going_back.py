"""Find the turn behind which a thread of Codex is forked, so that a later one is not in the fork.

`thread/read` tells the turns of a thread with their items, also those that a fork has of the thread
before it. What a person said has our id of it (`clientId`). Tried with 0.169.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, text


class WayBack(NamedTuple):
    """The last turn that stays; "": none does. `why_not`: there is no way."""

    after: str = ""
    why_not: str = ""


def way_back(turns: Sequence[Mapping[str, Any]], turn: str) -> WayBack:
    """Return how to go back to before a turn: our id of its prompt, or Codex' own of it."""
    at = next((at for at, each in enumerate(turns) if turn in _ids(each)), None)
    if at is None:
        return WayBack(why_not="its thread does not have that prompt")
    later = (item for each in turns[at:] for item in mappings(each.get("items")))
    if any(item.get("type") == "contextCompaction" for item in later):
        return WayBack(why_not="it has made its conversation shorter since that prompt")
    return WayBack(text(turns[at - 1].get("id")) if at else "")


def _ids(turn: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a turn. A steer has an id as well, and begins none."""
    yield text(turn.get("id"))
    for item in mappings(turn.get("items")):
        if item.get("type") == "userMessage":
            yield text(item.get("clientId"))
            return
