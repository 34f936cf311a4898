"""What of an agent's settings goes along when another agent goes on with a conversation.

A mode goes along by its meaning, and an effort by its word where every agent means the same by it.
No agent begins in a mode that asks less than the one before, where both are known.
"""

from collections.abc import Mapping

from siding.agents.talking.port import TALKING, Meaning
from siding.chat.talk import Talk
from siding.ground.namedtuples import NamedTuple

_EFFORTS = ("low", "medium", "high")
_SAID = {
    Meaning.PLAN: "only plans",
    Meaning.ASK: "asks before each change",
    Meaning.EDITS: "accepts edits",
}
_STRICTEST_FIRST = tuple(Meaning)


class Carried(NamedTuple):
    """The settings with which the next agent begins, "" for its own, and what did not go along."""

    mode: str = ""
    effort: str = ""
    left: tuple[str, ...] = ()


def carried(talk: Talk, agent: str) -> Carried:
    """Return what goes along from the present agent of a conversation to another one."""
    before, after = TALKING.of(talk.agent), TALKING.of(agent)
    if before is None or after is None:
        return Carried()
    meaning = before.means.get(talk.mode)
    mode, left = "", []
    if meaning is not None:
        mode = _mode_of(after.means, meaning)
        has = after.means.get(mode)
        if has is None:
            left.append(f"{agent} has no mode of which it is known that it {_SAID[meaning]}")
        elif has is not meaning:
            left.append(f"{agent} has no mode that {_SAID[meaning]}; it {_SAID[has]} ({mode})")
    elif talk.mode:
        usual = f"{agent} begins in its usual one"
        left.append(f"the mode {talk.mode!r} is {talk.agent}'s own; {usual}")
    effort = talk.effort if after.abilities.efforts and talk.effort in _EFFORTS else ""
    if talk.effort and not effort:
        why = "knows none" if not after.abilities.efforts else "may mean another by this word"
        left.append(f"the effort {talk.effort!r} does not go along: {agent} {why}")
    return Carried(mode, effort, tuple(left))


def _mode_of(means: Mapping[str, Meaning], wanted: Meaning) -> str:
    """Return the mode that means this; else the one that asks more, by the least; "" for none."""
    no_more = _STRICTEST_FIRST[: _STRICTEST_FIRST.index(wanted) + 1]
    for meaning in reversed(no_more):
        for mode, its in means.items():
            if its is meaning:
                return mode
    return ""
